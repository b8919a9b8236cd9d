package consume

import (
	"context"
	"sync"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/lease"
	"github.com/nexuspg/nexus/internal/places"
	"github.com/nexuspg/nexus/internal/seldom"
	"github.com/nexuspg/nexus/internal/work"
)

const (
	maxBatch    = 200                   // items a claim
	maxReady    = 2 * maxBatch          // items waiting for a worker
	readyFor    = 50 * time.Millisecond // how much work may wait for the workers
	maxBytes    = 32 << 20              // of messages in hand, as far as their size can be foreseen
	settleDelay = 2 * time.Millisecond  // how long a result waits for others
	settleBatch = 500                   // results an exchange

)

// Loop runs the handlers of one consumer on one source.
type Loop struct {
	engine.Config
	*feed.Feed
	source      Source
	patterns    []string
	maxAttempts []int
	limits      map[*handlers.Handler]*limit

	mu        sync.Mutex
	work      sync.Cond // for workers: there is something in ready, or never will be
	changed   sync.Cond // for await: a counter changed
	ready     []*task
	slots     []*task // what each worker has in hand
	running   int     // slots in use, those of stuck workers among them
	share     *places.Share
	held      int       // places, at least; each slot in use has one
	asking    int       // places held for claims under way
	hungry    bool      // one is wanted for a claim
	alive     int       // goroutines: workers, claimers, monitor
	stuck     int       // workers that may never come back
	allStuck  time.Time // since when all of them are; zero: they are not
	claiming  int       // items asked for and not here yet
	done      []work.Result
	since     time.Time // when the first of done came
	settling  int       // exchanges under way that carry results
	closed    bool      // everything is settled or given up
	inline    bool      // items are claimed by the caller of Work only
	alternate bool
	speed     time.Duration // moving average of a call
	size      int           // moving average of a message, in bytes
	saturated bool          // all workers have had their item for longer than readyFor
	keeper    lease.Keeper

	unreadyTill  time.Time // claim nothing before: handlers got no transaction
	unreadyCount int       // in a row
	unreadySaid  seldom.Line
}

// NewLoop prepares a loop; nothing runs yet.
func NewLoop(cfg engine.Config, source Source) *Loop {
	l := &Loop{
		Config: cfg,
		Feed:   cfg.Feed(source),
		source: source,
		limits: map[*handlers.Handler]*limit{},
		slots:  make([]*task, cfg.Places.Total()),
	}
	if l.Turn == nil {
		l.Turn = new(engine.Turn)
	}
	l.share = cfg.Places.Join(l.placed)
	l.work.L, l.changed.L = &l.mu, &l.mu
	l.keeper = cfg.Keeper(source, &l.mu)
	l.patterns, l.maxAttempts = cfg.Handlers.Attempts()
	for _, h := range cfg.Handlers.List() {
		if h.Workers > 0 && h.Workers < cfg.Places.Total() {
			l.limits[h] = &limit{handler: h}
		}
	}
	return l
}

// Start starts workers, claimers and the monitor.
func (l *Loop) Start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Fetched(time.Now())
	for i := range l.slots {
		l.spawn(func() { l.worker(i) })
	}
	// While one claimer waits for the database the other one can send what was done meanwhile.
	l.spawn(l.claimer)
	l.spawn(l.claimer)
	l.spawn(l.monitor)
}

// spawn runs f in a goroutine that Stop waits for. The caller holds the mutex.
func (l *Loop) spawn(f func()) {
	l.alive++
	go func() {
		defer func() {
			l.mu.Lock()
			l.alive--
			l.changed.Broadcast()
			l.mu.Unlock()
		}()
		f()
	}()
}

// Stuck is how many workers have handlers that ignore the end of their context, and since when all of them have; zero if one is left.
func (l *Loop) Stuck() (workers int, all time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stuck, l.allStuck
}

// worker handles one item after another. A handler may end the goroutine; its successor takes over the slot.
func (l *Loop) worker(slot int) {
	done := false
	defer func() {
		if !done {
			l.mu.Lock()
			l.spawn(func() { l.worker(slot) })
			l.mu.Unlock()
		}
	}()
	for t := l.take(slot); t != nil; t = l.take(slot) {
		l.handle(t, slot)
	}
	done = true
}

// placed tells the loop that it was given a place.
func (l *Loop) placed() {
	l.mu.Lock()
	l.held = l.share.Held()
	l.work.Broadcast()
	l.mu.Unlock()
	l.Stir()
}

// need is how many places the loop has use for. The caller holds the mutex.
func (l *Loop) need() int {
	n := l.running + len(l.ready) + l.asking
	if l.hungry {
		n++
	}
	return min(n, len(l.slots))
}

// balance holds as many places as the loop has use for, as far as there are. The caller holds the mutex.
func (l *Loop) balance() {
	if l.inline {
		return
	}
	had := l.held
	if l.held = l.share.Hold(l.need()); l.held > had && len(l.ready) > 0 {
		l.work.Broadcast()
	}
}

// take waits for an item and a place for it; nil means that the worker is no longer needed.
func (l *Loop) take(slot int) *task {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if l.Draining() {
			return nil
		}
		if len(l.ready) > 0 && l.running < l.held {
			break
		}
		l.work.Wait()
	}
	t := l.ready[0]
	l.ready[0] = nil
	l.ready = l.ready[1:]
	l.slots[slot] = t
	l.running++
	l.start(t)
	return t
}

func (l *Loop) start(t *task) {
	t.state = running
	t.started = time.Now()
}

// leave frees the slot of a task that is over and lets a claimer know. The caller holds the mutex.
func (l *Loop) leave(t *task, slot int) {
	l.slots[slot] = nil
	l.running--
	if t.state == abandoned {
		l.stuck--
		l.allStuck = time.Time{}
		l.share.Stuck(-1)
	}
	l.endTurn(t)
	for _, lim := range t.limits {
		lim.used--
	}
	now := time.Now()
	if took := now.Sub(t.started); l.speed == 0 {
		l.speed = max(took, 1)
	} else {
		l.speed = max((l.speed*7+took)/8, 1)
	}
	if !l.inline {
		l.held = l.share.Done(l.need())
	}
	if l.Due(now) && l.want(now) > 0 {
		l.Stir()
	}
	if l.Draining() || l.inline {
		l.changed.Broadcast()
	}
}

// settle hands results to the claimers. The caller holds the mutex.
func (l *Loop) settle(r ...work.Result) {
	if len(r) == 0 {
		return
	}
	if len(l.done) == 0 {
		l.since = time.Now()
		l.Stir()
	}
	l.done = append(l.done, r...)
	if len(l.done) >= settleBatch {
		l.Stir()
	}
}

// endTurn lets the next item go alone. What is in hand may still end the process, but it is settled. The caller holds the mutex.
func (l *Loop) endTurn(t *task) {
	if t.turn {
		t.turn = false
		l.Turn.Free()
	}
}

// nextAlone claims again, since the turn of the node is free for an item that has to go alone.
func (l *Loop) nextAlone() {
	l.source.TurnFree()
	l.Wake()
}

// adopt turns found items into tasks, ready to be started. turn says that the claim had the node's turn, which one of them keeps if it is
// to go alone. The caller holds the mutex.
func (l *Loop) adopt(sent time.Time, turn bool, items []work.Item) {
	defer func() {
		if turn {
			l.Turn.Free()
		}
	}()
	var release []work.Result
	for _, it := range items {
		d := it.Delivery()
		t := &task{item: it, d: d, claimed: sent, lease: lease.Taken(it, sent)}
		t.route = l.Handlers.Route(d.Type)
		switch {
		case t.route == nil:
			// Only a difference between the two matchers leads here; it must not become a busy loop.
			release = append(release, work.Result{Item: it, Action: work.Release, After: time.Minute, Reason: "no handler"})
			continue
		case l.Draining() && !l.inline:
			release = append(release, work.Result{Item: it, Action: work.Release, Reason: nexus.ErrDraining.Error()})
			continue
		}
		if it.Alone() && turn {
			t.turn, turn = true, false
		}
		t.limits = l.limitsOf(t.route)
		for _, lim := range t.limits {
			lim.used++
		}
		l.ready = append(l.ready, t)
	}
	l.settle(release...)
	l.balance()
	switch n := len(l.ready); {
	case n == 1:
		l.work.Signal()
	case n > 1:
		l.work.Broadcast()
	}
}

// answered deals with outcomes. The caller does not hold the mutex.
func (l *Loop) answered(outcomes []work.Outcome) {
	for _, o := range outcomes {
		d := o.Item.Delivery()
		switch o.Kind {
		case work.Lost:
			l.lost(d)
		case work.Buried:
			l.Log.Warn("gave up on event, it is a dead letter now", append(l.Handlers.Route(d.Type).About(d), "reason", work.Storable(o.Reason, 300))...)
		}
	}
}

func (l *Loop) lost(d *nexus.Delivery) {
	l.Log.Warn("lease lost, the result was refused", handlers.About(d)...)
	if l.Observer != nil {
		l.Observer.LeaseLost(d)
	}
}

// Stop ends the loop: nothing new is claimed, what waits is released, handlers may go on until grace ends, then their
// contexts end, and shortly after that the items of those that still do not return are released. It returns once everything
// is settled or, without a database, cannot be. The deliveries of handlers that never returned are the result.
func (l *Loop) Stop(grace context.Context) []*nexus.Delivery {
	l.quit()
	idle := func() bool { return l.running-l.stuck == 0 && l.claiming == 0 }
	if !l.await(grace, idle) {
		l.cancelAll(nexus.ErrDraining)
		last, cancel := context.WithTimeout(context.Background(), engine.ExitMargin)
		l.await(last, idle)
		cancel()
	}
	stayed := l.abandonAll()

	// What is left takes few exchanges, which must not hang for ever on a database that is away.
	last, cancel := context.WithTimeout(context.Background(), engine.ExitMargin)
	defer cancel()
	settled := l.await(last, func() bool { return idle() && len(l.done) == 0 && l.settling == 0 })
	l.mu.Lock()
	if !settled {
		l.Log.Error("stopped without the database: results are not recorded, the events run again when their leases end",
			"results", len(l.done))
	}
	l.closed = true
	l.mu.Unlock()
	l.End()
	l.await(context.Background(), func() bool { return l.alive-l.stuck == 0 })
	l.keeper.Wait()
	l.share.Leave()
	return stayed
}

// Finish takes up nothing new, and waits until all that is in hand has ended and is settled, or until ctx ends. It waits for a database that is
// away, as long as ctx lasts. Stop comes after it.
func (l *Loop) Finish(ctx context.Context) {
	l.quit()
	l.await(ctx, func() bool { return l.running-l.stuck == 0 && l.claiming == 0 && len(l.done) == 0 && l.settling == 0 })
}

// quit takes up nothing new, and gives back what waits.
func (l *Loop) quit() {
	l.mu.Lock()
	l.Drain()
	for _, t := range l.ready {
		l.drop(t, work.Result{Action: work.Release, Reason: nexus.ErrDraining.Error()})
	}
	l.ready = nil
	l.hungry = false
	l.balance()
	l.work.Broadcast()
	l.mu.Unlock()
	l.Stir()
}

func (l *Loop) await(ctx context.Context, cond func() bool) bool {
	return engine.Await(ctx, &l.changed, cond)
}

// drop settles a task that was not started. The caller holds the mutex.
func (l *Loop) drop(t *task, r work.Result) {
	for _, lim := range t.limits {
		lim.used--
	}
	l.endTurn(t)
	r.Item = t.item
	l.settle(r)
}

func (l *Loop) cancelAll(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, t := range l.slots {
		if t != nil && t.state == running {
			t.stop(now, cause)
		}
	}
}

func (l *Loop) abandonAll() []*nexus.Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	var stayed []*nexus.Delivery
	for _, t := range l.slots {
		if t != nil && (t.state == running || t.state == abandoned) {
			stayed = append(stayed, t.d)
		}
		if t != nil && t.state == running {
			l.abandon(t, work.Result{Action: work.Release, Reason: nexus.ErrDraining.Error(), Error: "the handler ignored the end of its context"})
		}
	}
	return stayed
}

// abandon settles a task whose handlers do not come back. The caller holds the mutex.
func (l *Loop) abandon(t *task, r work.Result) {
	t.state = abandoned
	l.endTurn(t)
	l.share.Stuck(1)
	if l.stuck++; l.stuck == len(l.slots) {
		l.allStuck = time.Now()
	}
	if t.tx != nil {
		go t.tx.Sever()
	}
	if r.Action != work.Ack {
		r.Item = t.item
		l.settle(r)
	}
	l.changed.Broadcast()
}
