// Package places shares a number of places for handlers among runners, so that no more handlers run at once than there are places.
//
// A runner joins and gets a [Share]. It holds a place for each of its handlers that runs, and for what it is about to claim. It says
// by [Share.Hold] how many places it has use for; what it holds beyond goes to others, and what it lacks comes as places get free.
// Who waits is served first come, first served, one place at a time, so that each runner gets its turn however busy another one is.
// Nobody looks again and again: a runner that got a place is told.
//
// A handler that does not come back keeps its place, since its goroutine, and perhaps its connection, are still there.
package places

import (
	"sync"
	"time"
)

// Places are shared by the runners of a node.
type Places struct {
	mu       sync.Mutex
	total    int
	free     int // zero while somebody waits
	waiting  []*Share
	members  int
	stuck    int
	allStuck time.Time
}

// New makes n places.
func New(n int) *Places { return &Places{total: n, free: n} }

// Total is how many there are.
func (p *Places) Total() int { return p.total }

// Stuck is how many places have handlers that ignore the end of their context, and since when all have; zero if one is left.
func (p *Places) Stuck() (n int, all time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stuck, p.allStuck
}

// Share is what one runner holds. Its methods may be called under a lock that told, see [Places.Join], takes.
type Share struct {
	p      *Places
	told   func()
	held   int
	want   int
	queued bool

	most     int
	stuck    int
	allStuck time.Time
}

// Join adds a runner that has up to most handlers at once. told is called in a goroutine of its own after the runner was given a place that it waited for.
func (p *Places) Join(most int, told func()) *Share {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members++
	return &Share{p: p, told: told, most: most}
}

// Leave takes the runner away. What it holds still counts until Hold gives it back.
func (s *Share) Leave() {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.members--
}

// Hold says that the runner has use for n places, and returns how many it holds, which are no more.
func (s *Share) Hold(n int) int {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.hold(n)
}

// Done is Hold after a handler has come back. Its place goes to whoever waits for one.
func (s *Share) Done(n int) int {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if len(s.p.waiting) > 0 && s.held > 0 {
		s.held--
		s.p.free++
		s.p.serve(s)
	}
	return s.hold(n)
}

func (s *Share) hold(n int) int {
	s.want = n
	if s.held > n {
		s.p.free += s.held - n
		s.held = n
		s.p.serve(s)
	}
	take := min(n-s.held, s.p.free)
	s.held += take
	s.p.free -= take
	if s.held < n && !s.queued {
		s.queued = true
		s.p.waiting = append(s.p.waiting, s)
	}
	return s.held
}

// serve gives what is free to those who wait. by knows by itself. The caller holds the mutex.
func (p *Places) serve(by *Share) {
	for p.free > 0 && len(p.waiting) > 0 {
		s := p.waiting[0]
		p.waiting = p.waiting[1:]
		s.queued = false
		if s.held >= s.want { // has no use for one any more
			continue
		}
		s.held++
		p.free--
		if s.held < s.want {
			s.queued = true
			p.waiting = append(p.waiting, s)
		}
		if s != by {
			go s.told()
		}
	}
}

// Held is how many places the runner holds.
func (s *Share) Held() int {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.held
}

// Room is how many places the runner may claim for: what it holds, and what is free but for one for each other runner, so that what comes for
// all of them at once needs no second look.
func (s *Share) Room() int {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.held + max(s.p.free-(s.p.members-1), min(s.p.free, 1))
}

// Others reports whether another runner waits for a place.
func (s *Share) Others() bool {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	for _, w := range s.p.waiting {
		if w != s && w.held < w.want {
			return true
		}
	}
	return false
}

// Stick counts handlers that ignore the end of their context: n more, or fewer if it is negative.
func (s *Share) Stick(n int) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.stuck += n
	s.stuck += n
	s.p.allStuck = since(s.p.allStuck, s.p.stuck >= s.p.total)
	s.allStuck = since(s.allStuck, s.stuck >= s.most)
}

func since(before time.Time, now bool) time.Time {
	switch {
	case !now:
		return time.Time{}
	case before.IsZero():
		return time.Now()
	}
	return before
}

// Stuck is how many of the runner's handlers ignore the end of their context, and since when it can have no other; zero if it can.
func (s *Share) Stuck() (n int, all time.Time) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.stuck, s.allStuck
}
