// Package work holds the words that every part of a running node shares: what an item is, what shall become of it, and what the database
// made of that. It has no behaviour but of words, and imports nothing that has.
//
// # An item
//
// An [Item] is one thing to handle. Its type belongs to the source that brought it and holds the fence: what proves to the database that
// this node still has the item. Nobody but the source looks into it.
//
// # From attempt to outcome
//
//	            ┌ Ack ───── (no outcome): done
//	            │
//	attempt ──▶ ├ Retry ─── Retried: another attempt follows
//	  ends      │       ├── Buried:  the attempts are used up
//	            │       └── Halted:  they are, and its lane stands at it
//	            ├ Reject ── Buried:  given up at once
//	            └ Release ─ Released: no attempt was used
//
//	each of them may be answered by Lost (somebody else has the item) or Gone (it exists no longer)
//
// A [Result] says what shall become of an item. An [Outcome] is the answer of the database to a result. An accepted Ack has none, since
// most results are one.
package work
