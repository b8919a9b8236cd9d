package batch

import (
	"context"
	"time"

	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/work"
)

// Source is where [Batches] get their items from.
type Source interface {
	engine.Source

	// BeginExpress opens a transaction for the handlers of items that it locks itself, all of which may take so long. [engine.ErrNoRoom]
	// says that all connections are in use.
	BeginExpress(ctx context.Context, limit time.Duration) (engine.SharedTx, error)

	// Lease leases items. With the node's turn it takes one of those that go alone, if there is one, and nothing else.
	Lease(ctx context.Context, want work.Want) (work.Got, error)

	// LeaseThese leases items whose transaction came to nothing, and returns those it got, in their order.
	LeaseThese(ctx context.Context, items []work.Item, lease time.Duration) ([]work.Item, error)

	// BeginShared opens a transaction for the handlers of leased items.
	BeginShared(ctx context.Context) (engine.SharedTx, error)

	// GaveBack says that items were given back that no handler was called for: the next claims look there again.
	GaveBack(items []work.Item)
}
