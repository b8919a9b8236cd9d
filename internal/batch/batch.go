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
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/lease"
	"github.com/nexuspg/nexus/internal/work"
)

// batch is what one claim took. Its goroutine owns it, but for cancel, which Batches' mutex guards.
type batch struct {
	items     []*entry
	leased    bool
	alone     bool            // may have killed a process
	tx        engine.SharedTx // express: holds the locks
	began     time.Time
	claimTook time.Duration
	cancel    context.CancelCauseFunc

	settled  int
	left     []*entry      // express: given back by the end of the transaction
	overhead time.Duration // marking and committing
}

// handle runs the handlers of a batch and settles what came out, however they end.
func (b *Batches) handle(t *batch) {
	defer b.leave(t)
	if !t.leased {
		b.express(t)
		return
	}
	b.underLease(t, t.items)
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); now.Sub(t.began) > b.limit && now.Before(b.leaseTill) {
		b.leaseTill = now.Add(untilExpress)
	}
}

// express runs a batch whose rows its transaction locks.
func (b *Batches) express(t *batch) {
	b.mu.Lock()
	late := b.fallback || time.Now().Before(b.leaseTill) // found out while the claim was under way
	b.mu.Unlock()
	if late {
		t.tx.Close(b.Context())
		t.left = t.items
		return
	}
	marking := time.Now()
	leases, err := b.mark(t)
	t.overhead = time.Since(marking)
	if err != nil || leases {
		t.tx.Close(b.Context())
		t.left = t.items
		b.mu.Lock()
		defer b.mu.Unlock()
		switch {
		case err != nil:
			b.Failed(err)
			b.recall(t.tx) // it may be there, and the transaction is not
		case !b.fallback:
			b.fallback = true
			b.Log.Warn("a node died in express, using leases until five minutes have been quiet", "source", b.Key())
		}
		return
	}

	ctx, cancel := context.WithCancelCause(b.Values)
	defer cancel(nil)
	ctx, stop := context.WithDeadlineCause(ctx, t.began.Add(b.limit), errLimit)
	defer stop()
	r := b.open(ctx, cancel, t, t.tx)
	h := r.run(t.items)
	if h == nil {
		committing := time.Now()
		h = r.commit()
		t.overhead += time.Since(committing)
	}
	b.forget(t)
	if h == nil {
		t.tx.Close(b.Context())
		b.adapt(r)
		t.left = r.left
		return
	}

	b.mu.Lock()
	b.span.undone()
	b.mu.Unlock()
	// The mark goes first, while the transaction still runs: a mark without one says that this node died.
	if h.kind != haltLost || !b.lostOften(t.items) {
		b.unmark(t.tx)
	}
	if h.kind == haltLimit { // before the rows are free for another claim
		b.mu.Lock()
		b.leaseTill = time.Now().Add(untilExpress)
		b.mu.Unlock()
	}
	closed := h.stuck != nil || t.tx.Lost()
	r.quit(h)
	switch h.kind {
	case haltLimit:
		b.Log.Warn("a batch takes longer than the express limit, using leases", "source", b.Key(), "limit", b.limit, "events", len(t.items))
		t.left = t.items
	case haltFailed, haltTimeout:
		b.leaseByID(t, t.items, closed, b.each)
	case haltEnded:
		// All is rolled back. Others may hold the blamed for a moment, since the rows are free.
		blamed := h.blamed
		if blamed == nil {
			blamed = r.begun
		}
		t.left = slices.DeleteFunc(slices.Clone(t.items), func(m *entry) bool { return slices.Contains(blamed, m) })
		b.leaseByID(t, blamed, true, func(t *batch, hold *hold, items []*entry) {
			b.endedEarly(t, hold, items, engine.EndedEarly(invoke.ErrUndone, h.end.Err))
		})
	case haltLost:
		b.Failed(h.end.Err)
		t.left = t.items
	case haltFence:
		b.Log.Warn("messages of an express batch are gone, its effects were rolled back", "source", b.Key(), "events", len(t.items))
		t.left = t.items
	default: // drained
		t.left = t.items
	}
}

// mark notes that the batch is in hand, on another connection.
func (b *Batches) mark(t *batch) (leases bool, err error) {
	exchange, end := b.Exchange()
	defer end()
	ctx, cancel := context.WithTimeout(exchange, b.limit)
	defer cancel()
	if leases, err = t.tx.Mark(ctx, bare(t.items)); err == nil && !leases {
		b.Recovered()
	}
	return leases, err
}

// unmark takes the mark back, or sees to it that this is done.
func (b *Batches) unmark(tx engine.SharedTx) {
	ctx, cancel := context.WithTimeout(b.Context(), time.Second)
	defer cancel()
	if err := tx.Unmark(ctx); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.recall(tx)
	}
}

// recall takes back the mark of a batch that was lost with its connection, as soon as there is one again. Until then it may count as
// that of a node that died, which costs only speed. The caller holds the mutex.
func (b *Batches) recall(tx engine.SharedTx) {
	b.helpers.Go(func() {
		for tries := 1; ; tries++ {
			ctx, cancel := b.Exchange()
			err := tx.Recall(ctx)
			cancel()
			if err == nil {
				return
			}
			if db.Unavailable(err) {
				b.Unavailable(err)
			}
			if !pause(b.Context(), min(feed.Backoff(tries), time.Second)) {
				return
			}
		}
	})
}

// lostOften notes items that were lost with their connection, and reports whether one of them was for the third time, each within a
// minute of the last. A restart or a cut is nothing to do with the batch; one that makes the server end the session each time must be told
// from the others, and is left looking like a death.
func (b *Batches) lostOften(items []*entry) (often bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.lostAt) > lostWithin {
		clear(b.losses)
	}
	b.lostAt = now
	for _, m := range items {
		b.losses[m.Delivery().MessageID]++
		often = often || b.losses[m.Delivery().MessageID] >= lostMost
	}
	return often
}

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

// endedEarly gives up items whose handlers ended the transaction, or may have.
func (b *Batches) endedEarly(t *batch, hold *hold, items []*entry, end work.Result) {
	results := make([]work.Result, len(items))
	for i, m := range items {
		results[i] = end
		results[i].Item = m.Item
		b.say(m, results[i])
	}
	b.settle(t, hold, items, results)
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
	b.mu.Lock()
	cancelled := b.cancelled
	b.mu.Unlock()
	if cancelled {
		b.settle(t, hold, items, released(items, 0, nexus.ErrDraining.Error(), ""))
		return nil
	}
	tx, err := b.source.BeginShared(b.Context())
	if err != nil {
		b.Failed(err)
		b.settle(t, hold, items, released(items, time.Second, "no connection", invoke.TextOf(err)))
		return nil
	}
	ctx, cancel := context.WithCancelCause(b.Values)
	defer cancel(nil)
	r := b.open(ctx, cancel, t, tx)
	h := r.run(items)
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
		b.endedEarly(t, hold, r.begun, engine.EndedEarly(invoke.ErrEnded, h.end.Err))
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
		text := invoke.Failure(h.end)
		results := released(items, time.Second, "connection lost", text)
		for i, m := range items {
			if m.Delivery().Deferrals >= engine.BrokenLimit {
				results[i] = work.Result{Item: m.Item, Action: work.Retry, Reason: work.ReasonError, Error: text, Policy: b.policy(m)}
			}
		}
		b.settle(t, hold, items, results)
	default: // drained, or the lease of one is lost: whose it is not any more is found out when settling
		b.settle(t, hold, items, released(items, 0, h.kind.String(), invoke.TextOf(h.end.Err)))
	}
	return nil
}

// failure is the result of an item that failed with its whole transaction.
func (b *Batches) failure(m *entry, h *halt) work.Result {
	r := work.Result{Item: m.Item, Action: work.Retry, Reason: h.reason, Policy: b.policy(m), Error: invoke.Failure(h.end)}
	if h.kind == haltTimeout {
		r = invoke.Judge(h.end, context.DeadlineExceeded, b.Handlers.Route(m.Delivery().Type).Timeout)
		r.Item, r.Policy = m.Item, b.policy(m)
	}
	b.say(m, r)
	return r
}

func (b *Batches) policy(m *entry) string {
	return b.Handlers.Route(m.Delivery().Type).Policy
}

func (b *Batches) say(m *entry, r work.Result) {
	what := b.Handlers.Route(m.Delivery().Type).About(m.Delivery())
	switch r.Action {
	case work.Retry:
		b.Log.Warn("attempt failed", append(what, "reason", r.Reason, "error", work.Storable(r.Error, 300))...)
	case work.Reject:
		b.Log.Debug("event rejected", append(what, "reason", work.Storable(r.Reason, 300))...)
	}
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
			b.settled(results, outcomes)
			t.settled += len(results)
			break
		}
		if errors.Is(err, nexus.ErrInvalid) {
			b.oneByOne(t, results)
			break
		}
		b.Failed(err)
		if time.Now().After(over) || !pause(b.Context(), feed.Backoff(tries)) {
			break
		}
	}
	hold.drop(items)
}

// oneByOne settles results that were refused together.
func (b *Batches) oneByOne(t *batch, results []work.Result) {
	for _, r := range results {
		ctx, cancel := b.Exchange()
		outcomes, err := b.SettleAlone(ctx, b.source, r)
		cancel()
		if err == nil {
			b.settled([]work.Result{r}, outcomes)
			t.settled++
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (b *Batches) settled(results []work.Result, outcomes []work.Outcome) {
	if b.Observer != nil && len(results) > 0 {
		b.Observer.Settled(results, outcomes)
	}
	for _, o := range outcomes {
		switch o.Kind {
		case work.Lost:
			b.Log.Warn("lease lost, the result was refused", handlers.About(o.Item.Delivery())...)
			if b.Observer != nil {
				b.Observer.LeaseLost(o.Item.Delivery())
			}
		case work.Buried:
			b.Log.Warn("gave up on event, it is a dead letter now", append(b.Handlers.Route(o.Item.Delivery().Type).About(o.Item.Delivery()), "reason", work.Storable(o.Reason, 300))...)
		}
	}
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

// hold are the leases of items while they are worked on. The mutex of Batches guards it.
type hold struct {
	b     *Batches
	items []*entry
}

// hold begins to renew the leases of items, which have just been taken.
func (b *Batches) hold(t *batch, items []*entry) *hold {
	h := &hold{b: b, items: items}
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range items {
		m.of, m.lease, m.held = t, lease.Taken(m.Item, now), true
	}
	if b.holds[h] = struct{}{}; len(b.holds) == 1 && !b.keeping {
		b.keeping = true
		b.helpers.Go(b.keep)
	}
	return h
}

// keep has leases renewed for as long as there are some.
func (b *Batches) keep() {
	for {
		pause(b.Context(), b.keeper.Every())
		b.mu.Lock()
		if len(b.holds) == 0 || b.Context().Err() != nil {
			b.keeping = false
			b.mu.Unlock()
			return
		}
		b.keeper.Look(b.Context(), time.Now(), b.leased)
		b.mu.Unlock()
	}
}

// leased are the items under leases. The caller holds the mutex.
func (b *Batches) leased(yield func(lease.Held) bool) {
	for h := range b.holds {
		for _, m := range h.items {
			if !yield(m) {
				return
			}
		}
	}
}

func (h *hold) stop() {
	h.drop(h.items)
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	delete(h.b.holds, h)
}

func (h *hold) drop(items []*entry) {
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	for _, m := range items {
		m.held = false
	}
}

var errLimit = errors.New("the batch takes longer than the express limit")
