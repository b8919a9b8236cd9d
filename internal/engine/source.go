package engine

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/pgmqueue"
	"github.com/nexuspg/nexus/internal/work"
)

// Source is where items come from. Its methods may be called by several goroutines at once. An error means that nothing
// happened, or that nobody knows; sending the same results again is safe, since each is fenced.
type Source interface {
	// Key names the source in logs and in wake-ups.
	Key() string

	// Claim leases items for lease, after settling results in the same round trip.
	Claim(ctx context.Context, results []work.Result, ask pgmqueue.Ask, lease time.Duration) (pgmqueue.Found, error)

	// Settle settles results and claims nothing.
	Settle(ctx context.Context, results []work.Result) ([]work.Outcome, error)

	// Extend renews leases and returns the items whose lease is lost.
	Extend(ctx context.Context, items []work.Item, lease time.Duration) ([]work.Item, error)

	// QueueAck adds to b the one statement that settles it as done inside the transaction b runs in. It fails with
	// [nexus.ErrLeaseLost] if the lease is lost.
	QueueAck(b *pgx.Batch, it work.Item)
}
