package node

import (
	"context"
	"slices"
	"sync"
	"time"
)

// runner fetches and does work of one kind: handlers of a consumer, or what a service does.
type runner interface {
	Hears(key string) bool // whether that key on the wake channel is for it
	Wake()
	LastFetch() time.Time // zero: it does not fetch
	Stuck() (places int, all time.Time)
	Stop(grace context.Context)
}

// runners are those of a node that runs. They may change at any time, so whoever has to do with all of them asks for them anew.
type runners struct {
	mu      sync.Mutex
	all     []runner
	closed  bool
	leaving sync.WaitGroup
	ending  context.Context // of the grace time of those that leave
	end     context.CancelFunc
}

func newRunners() *runners {
	rs := new(runners)
	rs.ending, rs.end = context.WithCancel(context.Background())
	return rs
}

// each are the runners that there are now, without those that leave.
func (rs *runners) each() []runner {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return slices.Clone(rs.all)
}

// add adds a runner; false once they stop.
func (rs *runners) add(one runner) bool { return rs.swap([]runner{one}, nil) }

// swap puts some runners in the place of others, all at once; false once they stop, and nothing is changed then. What leaves is waited for by
// stop, which ends the context that leave gets.
func (rs *runners) swap(came []runner, went map[runner]func(end context.Context)) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed {
		return false
	}
	rs.all = slices.DeleteFunc(rs.all, func(one runner) bool { _, leaves := went[one]; return leaves })
	rs.all = append(rs.all, came...)
	for _, leave := range went {
		rs.leaving.Go(func() { leave(rs.ending) })
	}
	return true
}

// wake makes those look for work whose key this is; "" is the key of all.
func (rs *runners) wake(key string) {
	for _, one := range rs.each() {
		if key == "" || one.Hears(key) {
			one.Wake()
		}
	}
}

// lastFetch is that of the runner whose last one is the longest ago.
func (rs *runners) lastFetch() time.Time {
	last := time.Now()
	for _, one := range rs.each() {
		if t := one.LastFetch(); !t.IsZero() && t.Before(last) {
			last = t
		}
	}
	return last
}

// stop stops all at once, those too that were to leave anyway.
func (rs *runners) stop(grace context.Context) {
	rs.mu.Lock()
	rs.closed = true
	rs.mu.Unlock()
	defer rs.end()
	defer context.AfterFunc(grace, rs.end)()
	var stopping sync.WaitGroup
	for _, one := range rs.each() {
		stopping.Go(func() { one.Stop(grace) })
	}
	stopping.Wait()
	rs.leaving.Wait()
}
