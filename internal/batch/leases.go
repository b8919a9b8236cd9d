package batch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// leaseByID takes items of a batch that failed as a whole under a lease, so that the attempts count, and hands them on.
//
// When the connection was closed, the server may take a moment to notice and to let go of the rows.
func (b *Batches) leaseByID(t *batch, items []*entry, closed bool, then func(*batch, *hold, []*entry)) {
	ctx, cancel := b.Exchange()
	defer cancel()
	got, err := b.source.LeaseThese(ctx, bare(items), b.Lease)
	for over := time.Now().Add(b.limit); err == nil && closed && len(got) == 0 && time.Now().Before(over) && pause(ctx, 20*time.Millisecond); {
		got, err = b.source.LeaseThese(ctx, bare(items), b.Lease)
	}
	if err != nil {
		b.Failed(err)
	}
	if len(got) == 0 {
		t.left = t.items
		return
	}
	var leased []*entry
	for _, m := range items {
		if len(leased) < len(got) && m.Item == got[len(leased)] {
			leased = append(leased, m)
		}
	}
	hold := b.hold(t, leased)
	defer hold.stop()
	then(t, hold, leased)
}

// underLease runs a leased batch.
func (b *Batches) underLease(t *batch, items []*entry) {
	hold := b.hold(t, items)
	defer hold.stop()
	if t.alone && !b.lease {
		// If the process dies of it, that must not count for what runs beside it.
		b.await(b.Context(), func() bool { return len(b.busy) == 1 || b.cancelled })
	}
	for len(items) > 0 {
		items = b.once(t, hold, items)
	}
}

// each runs leased items one by one.
func (b *Batches) each(t *batch, hold *hold, items []*entry) {
	for _, m := range items {
		b.once(t, hold, []*entry{m})
	}
}

// once runs leased items in one transaction and returns those it did not get to.
func (b *Batches) once(t *batch, hold *hold, items []*entry) (left []*entry) {
	placed := b.place(t)
	b.mu.Lock()
	cancelled := b.cancelled
	b.mu.Unlock()
	if cancelled {
		b.settle(t, hold, items, released(items, 0, nexus.ErrDraining.Error(), ""))
		return nil
	}
	if !placed {
		b.settle(t, hold, items, released(items, 0, "no free worker", ""))
		return nil
	}
	tx, err := b.source.BeginShared(nexus.WithDelivery(b.Context(), deepest(items)))
	if err != nil {
		b.Failed(err)
		b.settle(t, hold, items, released(items, time.Second, "no connection", invoke.TextOf(err)))
		return nil
	}
	ctx, cancel := context.WithCancelCause(b.Values)
	defer cancel(nil)
	r := b.open(ctx, cancel, t, tx)
	h := r.handle(items)
	if h == nil {
		h = r.commit()
	}
	b.forget(t)
	if h == nil {
		tx.Close(b.Context())
		b.adapt(r)
		hold.drop(r.done)
		return r.left
	}
	r.quit(h)
	switch h.kind {
	case haltEnded:
		b.endedEarly(t, hold, r.begun, invoke.Ended(invoke.ErrEnded, h.end.Err))
		return r.rest(items)
	case haltFailed, haltTimeout:
		if len(items) > 1 {
			b.each(t, hold, items)
			return nil
		}
		b.settle(t, hold, items, []work.Result{b.failure(items[0], h)})
	case haltLost:
		if db.Unavailable(h.end.Err) {
			b.Unavailable(h.end.Err)
		}
		results := make([]work.Result, len(items))
		for i, m := range items {
			results[i] = invoke.Broken(m.Delivery(), h.end.Err)
			results[i].Item, results[i].Policy = m.Item, b.policy(m)
		}
		b.settle(t, hold, items, results)
	default: // drained, or the lease of one is lost: whose it is not any more is found out when settling
		b.settle(t, hold, items, released(items, 0, h.kind.String(), invoke.TextOf(h.end.Err)))
	}
	return nil
}

// endedEarly gives up items whose handlers ended the transaction, or may have.
func (b *Batches) endedEarly(t *batch, hold *hold, items []*entry, end work.Result) {
	results := make([]work.Result, len(items))
	for i, m := range items {
		results[i] = end
		results[i].Item = m.Item
		b.SayFailed(m.Delivery(), results[i])
	}
	b.settle(t, hold, items, results)
}

// failure is the result of an item that failed with its whole transaction.
func (b *Batches) failure(m *entry, h *halt) work.Result {
	r := work.Result{Item: m.Item, Action: work.Retry, Reason: h.reason, Policy: b.policy(m), Error: invoke.Failure(h.end)}
	if h.kind == haltTimeout {
		r = invoke.Judge(h.end, context.DeadlineExceeded, b.Handlers.Route(work.KindOf(m.Delivery())).Timeout)
		r.Item, r.Policy = m.Item, b.policy(m)
	}
	b.SayFailed(m.Delivery(), r)
	return r
}

func released(items []*entry, after time.Duration, reason, text string) []work.Result {
	results := make([]work.Result, len(items))
	for i, m := range items {
		results[i] = work.Result{Item: m.Item, Action: work.Release, After: after, Reason: reason, Error: work.Storable(text, work.MaxText)}
	}
	return results
}

// settle settles what is under a lease outside of any transaction, again until it works or the lease is over.
func (b *Batches) settle(t *batch, hold *hold, items []*entry, results []work.Result) {
	over := time.Now().Add(b.Lease)
	for tries := 1; ; tries++ {
		ctx, cancel := b.Exchange()
		outcomes, err := b.source.Settle(ctx, results)
		cancel()
		if err == nil {
			b.SaySettled(results, outcomes)
			t.settled += len(results)
			break
		}
		if feed.Dropped(err) {
			b.SayDropped(results)
			break
		}
		if errors.Is(err, nexus.ErrInvalid) {
			left, _ := b.SettleApart(b.Feed, b.source, results)
			t.settled += len(results) - len(left)
			break
		}
		b.Failed(err)
		if time.Now().After(over) || !pause(b.Context(), feed.Backoff(tries)) {
			break
		}
	}
	hold.drop(items)
}

// open registers a transaction whose handlers' contexts can be cancelled.
func (b *Batches) open(ctx context.Context, cancel context.CancelCauseFunc, t *batch, tx engine.SharedTx) *shared {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.cancel = cancel
	if b.cancelled {
		cancel(nexus.ErrDraining)
	}
	return &shared{b: b, t: t, tx: tx, ctx: ctx, guards: maxGuards, express: tx == t.tx, chunk: b.chunk}
}

func (b *Batches) forget(t *batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.cancel = nil
}

// adapt makes savepoints of On handlers rarer as long as nothing fails.
func (b *Batches) adapt(r *shared) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(r.bad) > 0 {
		b.chunk = max(b.chunk/2, 1)
	} else if len(r.left) == 0 {
		b.chunk = min(2*b.chunk, b.span.now)
	}
	if r.express {
		b.span.committed(len(r.t.items)-len(r.left), len(r.bad), time.Since(r.t.began))
	}
}

// deepest is the delivery that counts as the cause of what SQL emits in the transaction of all.
func deepest(items []*entry) *nexus.Delivery {
	return slices.MaxFunc(items, func(a, b *entry) int { return a.Delivery().Depth - b.Delivery().Depth }).Delivery()
}
