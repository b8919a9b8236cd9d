package consume

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
)

// Observer is told what a loop does, for metrics and traces. Its methods run in the loop's goroutines, several at once: they
// return at once and ask nothing of the loop.
type Observer interface {
	// Claimed is an answered claim: what it brought, and how many items it gave up on.
	Claimed(items []Item, buried int)

	// Handling begins a call of handlers with one or many deliveries. They get the context that it returns. The loop calls end
	// once, with one result for each delivery, in order, and with the time that the handlers took. A result that is not the loop's
	// to send, since the monitor gave the handlers up, is a zero one with Late set.
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

// observed begins the observation of a call with one delivery.
func (l *Loop) observed(ctx context.Context, t *task) context.Context {
	if l.Observer == nil {
		return ctx
	}
	ctx, t.end = l.Observer.Handling(ctx, []*nexus.Delivery{t.d})
	return ctx
}

// observedEnd ends it, if it began.
func (t *task) observedEnd(r Result, err error, late bool) {
	if t.end != nil {
		t.end([]Observed{{Result: r, Err: err, Late: late}}, t.took)
	}
}

// observed begins the observation of a call with a batch.
func (b *Batches) observed(ctx context.Context, items []*delivery) (context.Context, func([]Observed, time.Duration)) {
	if b.Observer == nil {
		return ctx, nil
	}
	return b.Observer.Handling(ctx, own(items))
}

// sight is an observation of a call with a batch.
type sight struct {
	began time.Time
	end   func(results []Observed, took time.Duration)
}

// over ends it for a call that went well, or that came to nothing as a whole.
func (s *sight) over(items int, err error, good bool) {
	if s.end == nil {
		return
	}
	results := make([]Observed, items)
	for i := range results {
		results[i] = Observed{Err: err, Late: !good}
	}
	s.end(results, time.Since(s.began))
}

// failed ends it for a call after which some items are known to have failed.
func (s *sight) failed(items []*delivery, known []Result, err error) {
	if s.end == nil {
		return
	}
	results := make([]Observed, len(items))
	for i, m := range items {
		results[i] = Observed{Err: err, Late: true}
		for _, r := range known {
			if r.Item == Item(m) {
				results[i] = Observed{Result: r, Err: err}
			}
		}
	}
	s.end(results, time.Since(s.began))
}

// settledWith tells of an exchange that settled something.
func (l *Loop) settledWith(results []Result, outcomes []Outcome) {
	if l.Observer != nil && len(results) > 0 {
		l.Observer.Settled(results, outcomes)
	}
}
