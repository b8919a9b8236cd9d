// Package invoke is how an engine calls code of users: it lends handlers a transaction, catches however they end, and judges what that
// means. It settles nothing and claims nothing.
//
// # A transaction
//
// [Begin] opens a [Tx] on a pool that others use as well, so it begins with the session as it is when nobody has used it yet ([Session]), and
// leaves that behind.
//
//	Begin ──▶ Lend ──▶ (a handler's call) ──▶ done ──▶ Fault? ──▶ Commit
//	            ▲                               │         │
//	            └────────── the next handler ───┘         └──────▶ Close, or Discard
//
// A handler has the transaction for as long as its call takes. It may neither commit it nor roll it back: what it does by methods is refused,
// and what it does by statements is found out, since a mark of the transaction's is gone then. A connection that a handler may still use, or
// has left changed for good, is closed and not given back.
//
// # A call
//
//	        Begin             Back
//	waiting ─────▶ running ─────────▶ back: the worker settles
//	   │              │
//	   └──────────────┴── GiveUp ───▶ given up: whoever gave it up settles
//
// A [Call] ends the handlers' context by Stop or when their time is over, and is overdue when they go on for [Stay] after that. Both engines
// watch it and give it up then.
//
// # The end of a call
//
// [End.Catch] runs a handler; a panic and the end of the goroutine are ends like others. [Judge] makes a result of the end: of what was
// returned, and of why the context ended. The methods of a handler's error may panic, and nothing here dies of that.
package invoke
