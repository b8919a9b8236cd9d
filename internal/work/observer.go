package work

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
)

// Observer is told what an engine does, for metrics and traces. Its methods run in the engine's goroutines, several at once: they
// return at once and ask nothing of the engine.
type Observer interface {
	// Claimed is an answered claim: what it brought, and how many items it gave up on.
	Claimed(items []Item, buried int)

	// HeldBack is a claim for which limits of the consumer left no room, or less than was asked for.
	HeldBack(by Hold)

	// Handling begins a call of handlers with one or many deliveries. They get the context that it returns. The engine calls end
	// once, with one result for each delivery, in order, and with the time that the handlers took. A result that is not this call's
	// to send, since the handlers were given up before, is a zero one with Late set.
	Handling(ctx context.Context, batch []*nexus.Delivery) (_ context.Context, end func(results []Observed, took time.Duration))

	// Settled is what the database accepted: results, and its outcomes for those that were not simply acknowledged.
	Settled(results []Result, outcomes []Outcome)

	// LeaseLost is a delivery whose result was refused, since its lease was lost. It may be an outcome of Settled as well.
	LeaseLost(d *nexus.Delivery)
}

// Observed is a result with the error behind it.
type Observed struct {
	Result
	Err  error
	Late bool // not settled by this call: the handlers came back too late, or they are called again for a part of the batch
}
