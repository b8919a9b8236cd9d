package batch

import (
	"context"
	"sync"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/lease"
	"github.com/nexuspg/nexus/internal/places"
	"github.com/nexuspg/nexus/internal/work"
)

const (
	defaultSize = 100 // items a call

	// untilExpress is how long a reason to use leases must be past.
	untilExpress = 5 * time.Minute

	// lostMost is how often a message may be lost with its connection, each time lostWithin of the last, before it is suspect of causing it.
	lostMost   = 3
	lostWithin = time.Minute
)

// Batches runs handlers whose items share a transaction: On with Express and OnBatch.
//
// Express: one transaction locks a batch, runs the handlers and removes what they are done with. Nothing is written before, so a
// crash gives the batch back at once; nothing is counted before either, which is why each batch is marked on another
// connection. Where express cannot go on, the same handlers run under leases: when a node died in it, when a batch takes longer
// than Limit, when a batch fails as a whole at its commit. OnBatch with Leased never does otherwise.
//
// One goroutine claims. Each batch has one of its own, as many at once as keep the database busy, as far as there are places.
type Batches struct {
	engine.Config
	*feed.Feed
	source Source
	limit  time.Duration // of an express batch

	patterns    []string
	maxAttempts []int
	lease       bool // always
	size        int  // items a call
	linger      time.Duration
	most        int // batches at once

	mu        sync.Mutex
	changed   sync.Cond
	busy      map[*batch]struct{}
	share     *places.Share
	claiming  bool                               // holds a place for the claim
	hungry    bool                               // one is wanted for a claim
	stuck     map[*invoke.Call][]*nexus.Delivery // of handlers that do not come back
	lacking   int                                // batches whose place has handlers that do not come back
	hurry     bool                               // handlers are no longer waited for
	alive     bool                               // the claiming goroutine
	cancelled bool                               // nothing may begin any more

	lingerUntil time.Time
	span        span
	chunk       int           // On: items behind one savepoint
	whole, base time.Duration // moving averages of a batch, and of what the database has of it besides the handlers

	fallback  bool           // a node died in express, or the consumer has limits
	solo      bool           // the last claim found what has to go alone
	leaseTill time.Time      // this node's own reason to use leases
	lostAt    time.Time      // the last lost connection
	losses    map[int64]int  // how often a message was lost with its connection of late
	helpers   sync.WaitGroup // of recalls, and of the keeper
	keeper    lease.Keeper
	holds     map[*hold]struct{}
}

// New prepares to run one group of handlers, see [Handlers.Split]; nothing runs yet. limit bounds an express batch.
func New(cfg engine.Config, source Source, limit time.Duration) *Batches {
	b := &Batches{
		Config: cfg, Feed: cfg.Feed(source), source: source, limit: limit, most: cfg.Places.Total(),
		busy: map[*batch]struct{}{}, holds: map[*hold]struct{}{}, stuck: map[*invoke.Call][]*nexus.Delivery{}, losses: map[int64]int{},
	}
	if b.Turn == nil {
		b.Turn = new(engine.Turn)
	}
	b.changed.L = &b.mu
	b.keeper = cfg.Keeper(source, &b.mu)
	b.patterns, b.maxAttempts = cfg.Handlers.Attempts()
	grows := true
	b.lease = cfg.NoExpress
	for _, h := range cfg.Handlers.List() { // of those that set something all set the same, see NoneIdle
		grows = grows && h.Size == 0 && h.Linger == 0
		b.size, b.linger = max(b.size, h.Size), max(b.linger, h.Linger)
		b.lease = b.lease || h.Lease
		if h.Workers > 0 {
			b.most = min(b.most, h.Workers)
		}
	}
	if b.size == 0 {
		b.size = defaultSize
	}
	b.share = cfg.Places.Join(b.most, b.placed)
	b.chunk, b.span = max(b.size/4, 1), newSpan(b.size, grows)
	return b
}

// placed tells that there is another place.
func (b *Batches) placed() {
	b.mu.Lock()
	b.changed.Broadcast()
	b.mu.Unlock()
	b.Stir()
}

// used is how many places are in use: each batch in hand has one, and each that is stuck. The caller holds the mutex.
func (b *Batches) used() int { return len(b.busy) + len(b.stuck) }

// need is how many there is use for. The caller holds the mutex.
func (b *Batches) need() int {
	n := b.used()
	if b.claiming || b.hungry {
		n++
	}
	return n
}

// Stuck is how many places have handlers that ignore the end of their context, and since when all of them have; zero if one is left.
func (b *Batches) Stuck() (places int, all time.Time) { return b.share.Stuck() }

// place has a batch whose handlers did not come back wait for another place, since they keep theirs. As long as others might do better it
// reports whether there is one; a place that was not to be had is not waited for again.
func (b *Batches) place(t *batch) bool {
	if !t.lacks {
		return true
	}
	if t.placeless {
		return false
	}
	ctx, cancel := context.WithTimeout(b.Context(), b.Lease/3)
	defer cancel()
	if !b.await(ctx, func() bool {
		others := b.used() - b.lacking
		if b.claiming {
			others++
		}
		if b.cancelled || b.share.Hold(b.need()) <= others {
			return b.cancelled
		}
		t.lacks = false
		b.lacking--
		return true
	}) {
		t.placeless = true
	}
	return !t.placeless
}

func (b *Batches) await(ctx context.Context, cond func() bool) bool {
	return engine.Await(ctx, &b.changed, cond)
}

// leave ends a batch. The caller holds no mutex.
func (b *Batches) leave(t *batch) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.busy, t)
	if t.lacks {
		b.lacking--
	}
	b.share.Done(b.need())
	if t.alone {
		b.Turn.Free()
	}
	if t.settled > 0 && !t.leased {
		b.whole = average(b.whole, now.Sub(t.began)-t.claimTook)
		b.base = average(b.base, t.overhead)
	}
	b.Freed(now)
	if len(t.left) > 0 {
		b.source.GaveBack(bare(t.left))
		b.NextAt(now)
	}
	b.changed.Broadcast()
	b.Stir()
}

func average(old, now time.Duration) time.Duration {
	if old == 0 {
		return max(now, 1)
	}
	return max((old*7+now)/8, 1)
}

func (b *Batches) policy(m *entry) string {
	return b.Handlers.Route(work.KindOf(m.Delivery())).Policy
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
	b.holds[h] = struct{}{}
	return h
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
