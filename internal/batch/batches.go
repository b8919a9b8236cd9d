package batch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/feed"
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

	hurry chan struct{} // closed when handlers are no longer waited for

	mu        sync.Mutex
	changed   sync.Cond
	busy      map[*batch]struct{}
	share     *places.Share
	claiming  bool                          // holds a place for the claim
	hungry    bool                          // one is wanted for a claim
	stuck     map[*shared][]*nexus.Delivery // of handlers that do not come back
	allStuck  time.Time                     // since when they have all places; zero: they have not
	alive     bool                          // the claiming goroutine
	cancelled bool                          // nothing may begin any more

	lingerUntil time.Time
	span        span
	chunk       int           // On: items behind one savepoint
	whole, part time.Duration // moving averages of a batch, and of what the database has of it besides the handlers

	fallback  bool           // a node died in express
	solo      bool           // the last claim found what has to go alone
	leaseTill time.Time      // this node's own reason to use leases
	lostAt    time.Time      // the last lost connection
	losses    map[int64]int  // how often a message was lost with its connection of late
	helpers   sync.WaitGroup // of recalls, and of the keeper
	keeper    lease.Keeper
	holds     map[*hold]struct{}
	keeping   bool
}

// New prepares to run one group of handlers, see [Handlers.Split]; nothing runs yet. limit bounds an express batch.
func New(cfg engine.Config, source Source, limit time.Duration) *Batches {
	b := &Batches{
		Config: cfg, Feed: cfg.Feed(source), source: source, limit: limit, most: cfg.Places.Total(),
		hurry: make(chan struct{}), busy: map[*batch]struct{}{}, holds: map[*hold]struct{}{}, stuck: map[*shared][]*nexus.Delivery{}, losses: map[int64]int{},
	}
	if b.Turn == nil {
		b.Turn = new(engine.Turn)
	}
	b.share = cfg.Places.Join(b.Stir)
	b.changed.L = &b.mu
	b.keeper = cfg.Keeper(source, &b.mu)
	b.patterns, b.maxAttempts = cfg.Handlers.Attempts()
	grows := true
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
	b.chunk, b.span = max(b.size/4, 1), newSpan(b.size, grows)
	return b
}

// Start starts claiming.
func (b *Batches) Start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Fetched(time.Now())
	b.alive = true
	go b.claims()
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
func (b *Batches) Stuck() (places int, all time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.stuck), b.allStuck
}

// batchStep is what to do next.
type batchStep struct {
	want     work.Want // claim if Limit > 0
	announce time.Duration
	until    time.Time
	stop     bool
}

// claims claims until it drains.
func (b *Batches) claims() {
	defer func() {
		b.mu.Lock()
		b.alive = false
		b.changed.Broadcast()
		b.mu.Unlock()
	}()
	for {
		b.mu.Lock()
		b.hungry = false
		s := b.plan(time.Now())
		b.claiming = s.want.Limit > 0
		b.share.Hold(b.need())
		b.mu.Unlock()
		switch {
		case s.stop:
			return
		case s.announce != 0:
			b.Tell(s.announce)
		case s.want.Limit > 0:
			t := b.claim(s.want)
			b.mu.Lock()
			b.claiming = false
			b.share.Hold(b.need())
			b.mu.Unlock()
			if t != nil {
				go b.handle(t)
			}
		default:
			b.Wait(s.until)
		}
	}
}

// plan decides what to do now. The caller holds the mutex.
func (b *Batches) plan(now time.Time) batchStep {
	until := b.Begin(now)
	switch {
	case b.Draining():
		return batchStep{stop: true}
	case !until.IsZero():
		return batchStep{until: until}
	// What is stuck keeps nobody from the database, only its own place.
	case len(b.busy) >= b.crew() || b.used() >= b.most:
		if len(b.stuck) < b.most {
			b.Fetched(now)
		}
		return batchStep{}
	case b.Due(now):
		if b.hungry = b.share.Hold(b.used()+1) <= b.used(); b.hungry { // it waits its turn
			if _, all := b.Places.Stuck(); all.IsZero() {
				b.Fetched(now)
			}
			return batchStep{}
		}
		return batchStep{want: b.ask(now, b.span.now)}
	}
	if d := b.Announcement(now); d != 0 {
		return batchStep{announce: d}
	}
	return batchStep{until: b.Next()}
}

// crew is how many batches to have in hand: as many as keep one of them at the database, where more would only be in each
// other's way, while the handlers of the others run. The caller holds the mutex.
func (b *Batches) crew() int {
	if b.solo {
		return 1
	}
	n := 2
	if b.part > 0 {
		n = 1 + int((b.whole+b.part-1)/b.part)
	}
	return min(n, b.most)
}

// ask prepares a claim of up to n items, by lease or for express. The caller holds the mutex.
func (b *Batches) ask(now time.Time, n int) work.Want {
	leased := b.lease || b.fallback || now.Before(b.leaseTill)
	if leased {
		n = min(n, b.size)
	}
	w := work.Want{Types: b.patterns, MaxAttempts: b.maxAttempts, Limit: n, AtLeast: 1, Held: n * len(b.busy)}
	w.Woken, w.Rare = b.Claiming()
	if b.linger > 0 && (b.lingerUntil.IsZero() || now.Before(b.lingerUntil)) && n == b.size {
		w.AtLeast = n
	}
	if leased {
		w.Lease = b.Lease
		w.Alone = b.Turn.Take()
	}
	return w
}

// claim takes a batch; nil if there is none.
func (b *Batches) claim(w work.Want) *batch {
	ctx, cancel := b.Exchange()
	defer cancel()
	t := &batch{leased: w.Lease > 0, began: time.Now()}
	var got work.Got
	var err error
	if t.leased {
		got, err = b.source.Lease(ctx, w)
	} else if t.tx, err = b.source.BeginExpress(ctx, b.limit); err == nil {
		t.began = time.Now()
		got, err = t.tx.Lock(ctx, w)
	}
	t.alone = w.Alone && got.Alone && len(got.Items) > 0
	if w.Alone && !t.alone {
		b.Turn.Free()
	}
	t.items = entries(got.Items)
	now := time.Now()
	t.claimTook = now.Sub(t.began)

	b.mu.Lock()
	if err != nil {
		b.Again()
		if errors.Is(err, engine.ErrNoRoom) {
			b.Fetched(now)
		} else {
			b.Failed(err)
		}
	} else {
		if t.leased || len(t.items) == 0 {
			b.Recovered() // else when the batch has its mark too
		}
		b.Fetched(now)
		b.learn(now, w, got)
		if len(t.items) > 0 {
			b.busy[t] = struct{}{}
		}
	}
	b.mu.Unlock()
	if err == nil && b.Observer != nil {
		b.Observer.Claimed(got.Items, got.Buried)
	}
	if got.Buried > 0 {
		b.Log.Warn("gave up on events whose processes died, they are dead letters now", "count", got.Buried, "source", b.Key())
	}
	if len(t.items) > 0 {
		return t
	}
	if t.tx != nil {
		t.tx.Close(b.Context())
	}
	return nil
}

// learn adjusts pace and mode to what a claim found. The caller holds the mutex.
func (b *Batches) learn(now time.Time, w work.Want, got work.Got) {
	if got.Quiet {
		b.fallback = false
	}
	b.solo = w.Alone && got.Alone && !b.lease
	if got.Alone {
		b.Turn.Await(b, b.nextAlone)
	}
	if got.Few {
		if b.lingerUntil.IsZero() {
			b.lingerUntil = now.Add(b.linger)
		}
		b.NextAt(now.Add(max(min(b.linger/4, b.lingerUntil.Sub(now)), time.Millisecond)))
		return
	}
	n := len(got.Items) + got.Buried
	if n > 0 {
		b.lingerUntil = time.Time{}
	}
	b.Claimed(now, n, got.More)
}

// leave ends a batch. The caller holds no mutex.
func (b *Batches) leave(t *batch) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.busy, t)
	b.share.Done(b.need())
	if t.alone {
		b.Turn.Free()
	}
	if t.settled > 0 && !t.leased {
		b.whole = average(b.whole, now.Sub(t.began)-t.claimTook)
		b.part = average(b.part, t.overhead)
	}
	if len(t.left) > 0 {
		b.source.GaveBack(bare(t.left))
		b.NextAt(now)
	}
	b.changed.Broadcast()
	b.Stir()
}

// nextAlone claims again, since the turn of the node is free for an item that has to go alone.
func (b *Batches) nextAlone() {
	b.source.TurnFree()
	b.Wake()
}

func average(old, now time.Duration) time.Duration {
	if old == 0 {
		return max(now, 1)
	}
	return max((old*7+now)/8, 1)
}

// Stop ends it: nothing new is claimed, handlers may go on until grace ends, then their contexts end, and shortly after that
// their transactions. The deliveries of handlers that never returned are the result.
func (b *Batches) Stop(grace context.Context) []*nexus.Delivery {
	b.Drain()
	b.Stir()
	idle := func() bool { return !b.alive && len(b.busy) == 0 }
	if !b.await(grace, idle) {
		b.cancelAll()
		last, cancel := context.WithTimeout(context.Background(), engine.ExitMargin)
		b.await(last, idle)
		cancel()
	}
	close(b.hurry)
	last, cancel := context.WithTimeout(context.Background(), engine.ExitMargin)
	defer cancel()
	b.await(last, idle)
	b.End()
	b.await(context.Background(), idle)
	b.helpers.Wait()
	b.keeper.Wait()
	b.share.Leave()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Concat(slices.Collect(maps.Values(b.stuck))...)
}

// Finish takes up nothing new, and waits until all batches in hand have ended, or until ctx ends. Stop comes after it.
func (b *Batches) Finish(ctx context.Context) {
	b.Drain()
	b.Stir()
	b.await(ctx, func() bool { return !b.alive && len(b.busy) == 0 })
}

// cancelAll ends the contexts of handlers and lets nothing begin any more.
func (b *Batches) cancelAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cancelled = true
	for t := range b.busy {
		if t.cancel != nil {
			t.cancel(nexus.ErrDraining)
		}
	}
}

func (b *Batches) await(ctx context.Context, cond func() bool) bool {
	return engine.Await(ctx, &b.changed, cond)
}

// Work claims and handles up to limit items that are due, in the caller's goroutine as far as batches go, and returns how many.
// It must not have been started.
func (b *Batches) Work(ctx context.Context, limit int) (handled int, err error) {
	defer context.AfterFunc(ctx, b.cancelAll)()
	defer func() {
		grace, cancel := context.WithCancel(context.Background())
		cancel()
		b.Stop(grace)
	}()
	for handled < limit && ctx.Err() == nil {
		b.mu.Lock()
		w := b.ask(time.Now(), min(b.size, limit-handled))
		w.AtLeast = 1
		b.mu.Unlock()
		t := b.claim(w)
		if t != nil {
			b.handle(t)
			handled += t.settled
		}
		if _, err := b.Trouble(); err != nil {
			return handled, err
		}
		if t == nil && !b.Due(time.Now()) {
			break
		}
	}
	return handled, ctx.Err()
}
