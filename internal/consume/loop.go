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
	held      int  // places, at least; each slot in use has one
	asking    int  // places held for claims under way
	hungry    bool // one is wanted for a claim
	alive     int  // goroutines: workers, claimers, monitor
	claiming  int  // items asked for and not here yet
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
	most := cfg.Places.Total()
	if cfg.One {
		most = 1
	}
	l := &Loop{
		Config: cfg,
		Feed:   cfg.Feed(source),
		source: source,
		limits: map[*handlers.Handler]*limit{},
		slots:  make([]*task, most),
	}
	if l.Turn == nil {
		l.Turn = new(engine.Turn)
	}
	l.share = cfg.Places.Join(most, l.placed)
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

// Stuck is how many workers have handlers that ignore the end of their context, and since when all of them have; zero if one is left.
func (l *Loop) Stuck() (workers int, all time.Time) { return l.share.Stuck() }

// atWork is how many workers have an item and may still come back. The caller holds the mutex.
func (l *Loop) atWork() int {
	stuck, _ := l.share.Stuck()
	return l.running - stuck
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

// balance holds as many places as the loop has use for, as far as there are. It wakes no worker: what is more at once is for a claim, or for
// what was just adopted, and of what comes later placed is told. The caller holds the mutex.
func (l *Loop) balance() {
	if l.inline {
		return
	}
	l.held = l.share.Hold(l.need())
}

// leave has a task settled that is over, frees its slot and lets a claimer know. It returns the time. The caller holds the mutex.
func (l *Loop) leave(t *task, slot int) time.Time {
	now := time.Now()
	t.tx = nil
	if t.owed {
		l.oweSince(now, t.result)
	}
	l.slots[slot] = nil
	l.running--
	if t.call.GivenUp() {
		l.share.Stick(-1)
	}
	l.endTurn(t)
	for _, lim := range t.limits {
		lim.used--
	}
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
	return now
}

// owe hands results to the claimers. The caller holds the mutex.
func (l *Loop) owe(r ...work.Result) {
	if len(r) > 0 {
		l.oweSince(time.Now(), r...)
	}
}

// oweSince hands results to the claimers, of which there is one at least. The caller holds the mutex.
func (l *Loop) oweSince(now time.Time, r ...work.Result) {
	if len(l.done) == 0 {
		l.since = now
		l.Stir()
	}
	if l.done == nil {
		l.done = make([]work.Result, 0, min(len(r)+l.running+len(l.ready), maxBatch)) // as many as may come before they are sent
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
		t.route = l.Handlers.Route(work.KindOf(d))
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
	l.owe(release...)
	l.balance()
	for range min(len(l.ready), len(l.slots)-l.running) {
		l.work.Signal()
	}
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
	l.owe(r)
}

// want is how many items there is room for. The caller holds the mutex.
func (l *Loop) want(now time.Time) int {
	if l.Draining() || l.inline {
		return 0
	}
	places := l.places()
	free, prefetch := places-l.running, l.prefetch(places)
	outstanding := len(l.ready) + l.claiming
	room := free + prefetch - outstanding
	if free <= 0 && l.claiming == 0 {
		if _, all := l.Places.Stuck(); all.IsZero() {
			l.Fetched(now)
		}
	}
	switch {
	case l.One && l.running+outstanding+l.settling > 0, room <= 0:
		return 0
	case l.One:
		return 1
	case outstanding < free:
		return min(room, maxBatch)
	case room < maxBatch/2 && room < (free+prefetch)/2:
		return 0 // worth a claim of its own only when some more fit
	}
	return min(room, maxBatch)
}

// places is how many places the loop has or may have now. The caller holds the mutex.
func (l *Loop) places() int { return min(l.share.Room(), len(l.slots)) }

// spare is how many of its places, up to n, the loop may keep for a claim. The caller holds the mutex.
func (l *Loop) spare(n int) int {
	return min(n, max(l.places()-l.running-len(l.ready)-l.asking, 0))
}

// lacking reports whether nothing can be claimed, since others have the places. The caller holds the mutex.
func (l *Loop) lacking() bool {
	return !l.Draining() && !l.inline && l.claiming == 0 && len(l.ready) == 0 && l.running < len(l.slots) && l.places() <= l.running
}

// prefetch is how many items may wait for workers: as many as they get through in readyFor. While others wait for places, no more than
// there are places: the next one may be long in coming.
func (l *Loop) prefetch(places int) int {
	if l.speed == 0 || l.saturated {
		return 0
	}
	n := min(int64(places)*int64(readyFor/l.speed), maxReady)
	if l.share.Others() {
		n = min(n, int64(places))
	}
	if l.size > 0 {
		n = min(n, maxBytes/int64(l.size))
	}
	return int(n)
}

// noteSize foresees the size of messages from the largest ones of late.
func (l *Loop) noteSize(bytes int) {
	if bytes > l.size {
		l.size = bytes
	} else {
		l.size = (l.size*7 + bytes) / 8
	}
}

// limitsOf are those of the handlers that an item passes through.
func (l *Loop) limitsOf(r *handlers.Route) (of []*limit) {
	if len(l.limits) == 0 {
		return nil
	}
	for _, h := range r.Handlers {
		if one := l.limits[h]; one != nil {
			of = append(of, one)
		}
	}
	return of
}

// giveUp settles a task whose handlers do not come back, unless they just have. The caller holds the mutex.
func (l *Loop) giveUp(t *task) bool {
	r, mine := t.call.GiveUp()
	if !mine {
		return false
	}
	l.endTurn(t)
	l.share.Stick(1)
	if t.tx != nil {
		go t.tx.Sever()
	}
	r.Item, r.Policy = t.item, t.route.Policy
	l.owe(r)
	l.changed.Broadcast()
	return true
}
