package engine

import (
	"context"
	"time"

	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/work"
)

// Source is what any engine needs of where items come from. Its methods may be called by several goroutines at once. An error means that
// nothing happened, or that nobody knows; sending the same results again is safe, since each is fenced.
type Source interface {
	// Key names the source in logs and in wake-ups.
	Key() string

	// Settle settles results and claims nothing.
	Settle(ctx context.Context, results []work.Result) ([]work.Outcome, error)

	// Extend renews leases and returns the items whose lease is lost.
	Extend(ctx context.Context, items []work.Item, lease time.Duration) ([]work.Item, error)

	// TurnFree says that the node's turn is free again: the next claims look where items were left since they have to go alone.
	TurnFree()
}

// Tx is a transaction of the node's, in which the handlers of one item run. It settles the item as well, so its source makes it. Its
// methods are called by the goroutine that runs the handlers, and by the engine once they are back.
type Tx interface {
	handlers.Lender

	// Ack settles the item as done and commits. It fails with [nexus.ErrLeaseLost] if the lease is lost, with [invoke.ErrEnded] if the
	// transaction is over. Another error leaves open whether it committed.
	Ack(ctx context.Context, it work.Item) error

	// Ended reports whether a handler has ended it, as far as that is known on this side.
	Ended() bool

	// Broken reports whether the connection under the handlers broke, which is nothing they can help.
	Broken(err error) bool

	// Close rolls back what is open and gives the connection back.
	Close(ctx context.Context)

	// Sever cuts the connection under handlers that do not come back. It may be called at any time, and Discard comes after it.
	Sever()

	// Discard closes the connection for good.
	Discard()
}

// SharedTx is a transaction that many items share. One savepoint at a time stands behind what went well.
type SharedTx interface {
	Tx

	// Lock locks items for express, and puts the savepoint behind that.
	Lock(ctx context.Context, want work.Want) (work.Got, error)

	// Mark notes on another connection that items are in hand, since nothing else tells of a death in express. leases says that leases
	// have to be used in its place.
	Mark(ctx context.Context, items []work.Item) (leases bool, err error)

	// Unmark takes the mark back.
	Unmark(ctx context.Context) error

	// Recall takes the mark back of which nobody knows whether it is there.
	Recall(ctx context.Context) error

	// Keep puts the savepoint behind what was done since, and the session back as it was.
	Keep(ctx context.Context) error

	// Undo goes back to the savepoint.
	Undo(ctx context.Context) error

	// Commit settles results and commits, all or nothing, with the errors of Ack.
	Commit(ctx context.Context, results []work.Result) ([]work.Outcome, error)

	// Fault is why it cannot commit, as far as that is known on this side.
	Fault() error

	// Forgive forgets that a handler tried to end it, whose attempt is undone.
	Forgive()

	// Changed reports whether a handler may have changed the session since it was last put back.
	Changed() bool

	// Lasting reports whether a handler may have left in the session what cannot be put back.
	Lasting() bool

	// Outlived reports whether statements of a handler outlived its call: the connection is theirs.
	Outlived() bool

	// Lost reports whether the connection is gone.
	Lost() bool
}
