package workflow

import (
	"sync"
	"sync/atomic"
	"time"
)

// Whose step takes a quarter of an exchange or less is waited for by others, since whatever is committed together is flushed to disk once, where that is
// most of what an exchange takes: none of the last was over within apart. Where it is not, runs had better go on side by side, one flushed while the other
// one is worked. soonMost is how long a step may take then, and for how long, at most, one waits for the end of an exchange after which such a one comes.
const (
	apart    = time.Millisecond
	soonMost = 2 * time.Millisecond
)

// together has commits go in one group that would else go one after the other, each with a flush of its own: two runs with quick steps, each on a
// connection, wait for one another's flushes for good.
type together struct {
	gathering chan struct{} // has room for one: one group is gathered after the other

	mu     sync.Mutex
	flying int           // quick commits that are being sent
	took   time.Duration // what one of the last exchanges took, the shortest
	landed chan struct{} // closed at the end of the next one; nil: nobody waits for it
	waves  [committers]*wave
	oldest int
}

// wave is what was answered at once, and is sure to be back soon.
type wave struct {
	until time.Time
	out   atomic.Int32
}

// back says that one of those is back, or will not be.
func (w *wave) back() {
	if w != nil {
		w.out.Add(-1)
	}
}

// joined is w, with one more.
func (w *wave) joined() *wave {
	if w != nil {
		w.out.Add(1)
	}
	return w
}

// sent says that a group is on its way; landed, before its hands learn of it, that it is not any more, and is nil where none of them is quick.
func (t *together) sent(group []*commit) (landed func() *wave) {
	quick := 0
	for _, c := range group {
		if c.quick {
			quick++
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flying += quick
	began := time.Now()
	return func() (w *wave) {
		now := time.Now()
		soon := t.soon(now.Sub(began))
		w = &wave{until: now.Add(soon)}
		w.out.Store(int32(quick)) //nolint:gosec // a group has 200
		for _, c := range group {
			if c.soon = soon; c.quick {
				c.wave = w
			}
		}
		if quick == 0 {
			return nil
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.flying -= quick
		t.waves[t.oldest] = w
		t.oldest = (t.oldest + 1) % committers
		if t.landed != nil {
			close(t.landed)
			t.landed = nil
		}
		return w
	}
}

// soon is how long a step may take to be quick, after an exchange that took so long.
func (t *together) soon(took time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.took = min(took, t.took+t.took/16); t.took == 0 {
		t.took = took
	}
	if t.took < apart {
		return 0
	}
	return min(took/4, soonMost)
}

// coming is how long to wait for somebody who is about to commit, since his answer is out; and by what one is told that an exchange is over, if
// there is one after which somebody will.
func (t *together) coming(now time.Time) (wait time.Duration, landed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.waves {
		if w != nil && w.out.Load() > 0 {
			wait = max(wait, w.until.Sub(now))
		}
	}
	if wait > 0 || t.flying == 0 {
		return wait, nil
	}
	if t.landed == nil {
		t.landed = make(chan struct{})
	}
	return soonMost, t.landed
}

// gather waits for a commit, and takes with it what comes at once or is sure to come soon. more is false when no more will come.
func (r *runner) gather(carried []*commit) (group []*commit, more bool) {
	group = carried
	var later <-chan time.Time // nil: there is nothing to come to
	if len(group) > 0 {
		later = time.After(resend)
	}
	select {
	case r.together.gathering <- struct{}{}:
		defer func() { <-r.together.gathering }()
	case <-later: // who gathers may wait for ever
		return group, true
	}
	select {
	case c, more := <-r.commits:
		if !more {
			return nil, false
		}
		group = append(group, c)
	case <-later:
		return group, true
	}
	for len(group) < groupMost {
		select {
		case c, more := <-r.commits:
			if !more {
				return group, true
			}
			group = append(group, c)
			continue
		default:
		}
		if len(group) >= groupFew { // the more there are the less a flush costs each, and the database had better begin
			return group, true
		}
		wait, landed := r.together.coming(time.Now())
		if wait <= 0 || landed != nil && !group[len(group)-1].quick {
			return group, true
		}
		c, came := r.expect(wait, landed)
		if c != nil {
			group = append(group, c)
		} else if !came {
			return group, true
		}
	}
	return group, true
}

// expect waits so long for a commit, or for the end of an exchange. came: there was either.
func (r *runner) expect(wait time.Duration, landed <-chan struct{}) (c *commit, came bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case c = <-r.commits:
		return c, c != nil
	case <-landed:
		return nil, true
	case <-timer.C:
		return nil, false
	}
}

// handOn lets exchanges that end runs claim others.
func (r *runner) handOn(take func([]*hand)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.take = take
}

// handsOn begins a claim in the transaction that commits a group, of as many as that ends or gives back, where this is worth a claim and the last
// claim left some. They are what is due first, as ever, so no run keeps a slot from others by it. nil: there is to be none.
func (r *runner) handsOn(group []*commit) *claiming {
	limit := 0
	for _, c := range group {
		if c.op != opNext {
			limit++
		}
	}
	r.mu.Lock()
	take := r.take
	if !r.plenty || limit < r.few() {
		take = nil
	}
	r.mu.Unlock()
	if take == nil {
		return nil
	}
	c := r.beginClaim(limit)
	c.take = take
	return c
}
