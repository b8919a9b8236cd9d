package node

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nexuspg/nexus"
)

// runner runs some of the handlers of a consumer.
type runner interface {
	Key() string // of wake-ups
	Start()
	Wake()
	Looked(due bool) // the lookout was answered
	LastFetch() time.Time
	Stuck() (places int, all time.Time)
	Stop(grace context.Context) []*nexus.Delivery // those whose handlers never returned
	Work(ctx context.Context, limit int) (int, error)
}

// runners are those of a node. Whoever has to do with all of them asks for them anew each time, since they may change while the node runs.
type runners struct {
	mu  sync.Mutex
	all []runner
}

// add adds a runner, which make makes from the number by which [runners.at] finds it.
func (rs *runners) add(make func(number int) runner) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.all = append(rs.all, make(len(rs.all)))
}

// each are the runners that there are now.
func (rs *runners) each() []runner {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return slices.Clone(rs.all)
}

func (rs *runners) at(number int) runner {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.all[number]
}

// wake makes those look for work whose key this is; "" is the key of all.
func (rs *runners) wake(key string) {
	for _, one := range rs.each() {
		if key == "" || key == one.Key() {
			one.Wake()
		}
	}
}

// lastFetch is that of the runner whose last one is the longest ago.
func (rs *runners) lastFetch() time.Time {
	last := time.Now()
	for _, one := range rs.each() {
		if t := one.LastFetch(); t.Before(last) {
			last = t
		}
	}
	return last
}

// stuck is how many workers are.
func (rs *runners) stuck() (n int) {
	for _, one := range rs.each() {
		places, _ := one.Stuck()
		n += places
	}
	return n
}

// stop stops all at once, and tells gaveUp of the deliveries whose handlers never returned.
func (rs *runners) stop(grace context.Context, gaveUp func(*nexus.Delivery)) {
	var stopping sync.WaitGroup
	for _, one := range rs.each() {
		stopping.Go(func() {
			for _, d := range one.Stop(grace) {
				gaveUp(d)
			}
		})
	}
	stopping.Wait()
}
