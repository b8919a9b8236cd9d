package consume

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

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

	// Due is since when it could be taken, zero if that is not known.
	Due() time.Time
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

// Result is what the loop settles.
type Result struct {
	Item   Item
	Action Action
	After  time.Duration // retry and release
	Exact  bool          // retry: due after After, not by policy
	Policy string        // retry: jsonb as core.retry_delay takes it, "" for the stored policy alone
	Reason string        // short and one of few: failures are grouped by it
	Error  string        // what went wrong, for people
}

// Outcome is the database's answer to a Result that was not simply an accepted Ack.
type Outcome struct {
	Item   Item
	Kind   OutcomeKind
	Reason string // of the result that it answers
}

// OutcomeKind is spelt as in core.settle.
type OutcomeKind string

// The kinds. A lost item belongs to someone else now, a gone one no longer exists.
const (
	Lost     OutcomeKind = "lost"
	Gone     OutcomeKind = "gone"
	Retried  OutcomeKind = "retried"
	Buried   OutcomeKind = "buried"
	Released OutcomeKind = "released"
)

// Ask says what to claim.
type Ask struct {
	Types       []string // patterns
	MaxAttempts []int    // for each pattern; 0: the consumer's
	Limit       int
	Floor       int64 // look at ids from here on
	Window      int   // look at no more rows than this
	Sweep       bool  // look by due time, ignoring Floor
	Alone       bool  // one of those that may have killed a process is welcome
}

// Found is what an exchange brought.
type Found struct {
	Items     []Item // in the order of the source
	Buried    int    // items that the claim itself gave up on, since the processes that had them died too often
	Lowest    int64  // position of the first item, 0 if there is none
	Highest   int64  // position of the last item, 0 if there is none
	Looked    int    // rows looked at
	ScannedTo int64  // position of the last row looked at, 0 if none was
	Bytes     int    // size of the largest item
	Outcomes  []Outcome

	// Items that may have killed a process: those that were left, the lowest position among them, and of a batch the one taken too.
	Alone     int
	LeftAlone int64

	// Of a batch only.
	Few   int  // items left where they are, since they were fewer than asked for
	Quiet bool // nothing speaks against express

	xact int64 // express: the number of the transaction
}

// Source is where items come from. Its methods may be called by several goroutines at once. An error means that nothing
// happened, or that nobody knows; sending the same results again is safe, since each is fenced.
type Source interface {
	// Key names the source in logs and in wake-ups.
	Key() string

	// Claim leases items for lease, after settling results in the same round trip.
	Claim(ctx context.Context, results []Result, ask Ask, lease time.Duration) (Found, error)

	// Settle settles results and claims nothing.
	Settle(ctx context.Context, results []Result) ([]Outcome, error)

	// Extend renews leases and returns the items whose lease is lost.
	Extend(ctx context.Context, items []Item, lease time.Duration) ([]Item, error)

	// QueueAck adds to b the one statement that settles it as done inside the transaction b runs in. It fails with
	// [nexus.ErrLeaseLost] if the lease is lost.
	QueueAck(b *pgx.Batch, it Item)
}
