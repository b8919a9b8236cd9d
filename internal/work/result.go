package work

import (
	"time"

	"github.com/nexuspg/nexus"
)

// Item is one thing to handle. Each source has its own type behind it, which holds the fence: what proves to the database
// that this node still leases the item.
type Item interface {
	// Delivery is the node's own, for logs, metrics and traces. Nobody changes it.
	Delivery() *nexus.Delivery

	// Handed is a new copy, for a handler to do with as it likes. leased says that it may acknowledge it in a transaction of its own.
	Handed(leased bool) *nexus.Delivery

	// Acked reports whether a handler has acknowledged it in a transaction of its own, which may not have committed.
	Acked() bool

	// Alone reports whether it may have killed a process, and was claimed to be handled beside nothing else of that kind.
	Alone() bool

	// Due is since when it could be taken, zero if that is not known.
	Due() time.Time
}

// KindOf is what handlers are found by: the key of the one that the delivery names, else its event type.
func KindOf(d *nexus.Delivery) string {
	if d.Target != "" {
		return d.Target
	}
	return d.Type
}

// Action says what becomes of an item.
type Action uint8

// The actions.
const (
	Ack Action = iota
	Retry
	Reject
	Release
)

func (a Action) String() string {
	return [...]string{"ack", string(nexus.ActionRetry), string(nexus.ActionReject), string(nexus.ActionRelease)}[a]
}

// Result is what shall become of an item.
type Result struct {
	Item   Item
	Action Action
	After  time.Duration // retry and release
	Exact  bool          // retry: due after After, not by policy
	Policy string        // retry: jsonb as core_node.retry_delay takes it, "" for the stored policy alone
	Reason string        // short and one of few: failures are grouped by it
	Error  string        // what went wrong, for people
}

// Outcome is the database's answer to a Result that was not simply an accepted Ack.
type Outcome struct {
	Item   Item
	Kind   OutcomeKind
	Reason string // of the result that it answers
}

// OutcomeKind is spelt as in core_node.settle and core_node.settle_ordered.
type OutcomeKind string

// The kinds. A lost item belongs to someone else now, a gone one no longer exists.
const (
	Lost     OutcomeKind = "lost"
	Gone     OutcomeKind = "gone"
	Retried  OutcomeKind = "retried"
	Halted   OutcomeKind = "halted" // its lane stands at it
	Buried   OutcomeKind = "buried"
	Released OutcomeKind = "released"
)
