package consume

import (
	"time"

	"github.com/nexuspg/nexus/internal/lease"
	"github.com/nexuspg/nexus/internal/work"
)

// monitor has leases renewed, gives up what is overdue and gives back what waits too long, until the loop is closed.
func (l *Loop) monitor() {
	tick := time.NewTicker(l.keeper.Every())
	defer tick.Stop()
	for {
		select {
		case <-l.Context().Done():
			return
		case <-tick.C:
		}
		l.mu.Lock()
		now := time.Now()
		l.watch(now)
		l.giveBack(now)
		l.keeper.Look(l.Context(), now, l.inHand)
		l.mu.Unlock()
	}
}

// watch looks after handlers that run long. The caller holds the mutex.
func (l *Loop) watch(now time.Time) {
	slow := 0
	for _, t := range l.slots {
		if t == nil {
			continue
		}
		if now.Sub(t.started) > readyFor {
			slow++
		}
		if !l.Draining() && t.call.Overdue(now) && l.giveUp(t) {
			l.SayGivenUp(t.d)
		}
	}
	l.saturated = slow > 0 && slow == l.running && l.running >= l.places()
}

// giveBack releases what has waited for a worker so long that another node may do better. The caller holds the mutex.
func (l *Loop) giveBack(now time.Time) {
	keep := l.ready[:0]
	for _, t := range l.ready {
		if now.Sub(t.claimed) > l.Lease/3 {
			l.drop(t, work.Result{Action: work.Release, Reason: "no free worker"})
			continue
		}
		keep = append(keep, t)
	}
	clear(l.ready[len(keep):])
	l.ready = keep
	l.balance()
}

// inHand are the tasks that workers have. The caller holds the mutex.
func (l *Loop) inHand(yield func(lease.Held) bool) {
	for _, t := range l.slots {
		if t != nil && !yield(t) {
			return
		}
	}
}
