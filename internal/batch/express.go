package batch

import (
	"context"
	"slices"
	"time"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/invoke"
)

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
			b.Log.Warn("using leases in place of express: a node died in it within five minutes, or the consumer has limits", "source", b.Key())
		}
		return
	}

	ctx, cancel := context.WithCancelCause(b.Values)
	defer cancel(nil)
	ctx, stop := context.WithDeadlineCause(ctx, t.began.Add(b.limit), errLimit)
	defer stop()
	r := b.open(ctx, cancel, t, t.tx)
	h := r.handle(t.items)
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
			b.endedEarly(t, hold, items, invoke.Ended(invoke.ErrUndone, h.end.Err))
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
