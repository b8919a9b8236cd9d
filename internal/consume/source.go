package consume

import (
	"context"

	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/work"
)

// Source is where a [Loop] gets its items from.
type Source interface {
	engine.Source

	// Claim leases items, after settling results in the same round trip.
	Claim(ctx context.Context, results []work.Result, want work.Want) (work.Got, error)

	// Begin opens a transaction for the handlers of one item.
	Begin(ctx context.Context) (engine.Tx, error)
}
