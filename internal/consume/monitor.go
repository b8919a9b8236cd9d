package consume

import (
	"context"
	"fmt"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/work"
)

// monitor renews leases, ends what is overdue and gives back what waits too long, until the loop is closed.
func (l *Loop) monitor() {
	tick := time.NewTicker(min(max(l.Lease/10, 20*time.Millisecond), 200*time.Millisecond))
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
		renew := l.renewable(now)
		l.mu.Unlock()
		if len(renew) > 0 {
			go l.renew(renew)
		}
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
		if t.state != running {
			continue
		}
		// Whoever cannot renew must be done before someone else may begin.
		if now.After(t.leaseEnd.Add(-l.Lease/10)) && !t.item.Acked() {
			t.stop(now, nexus.ErrLeaseLost)
		}
		if over := t.overdue(now); !over.IsZero() && now.Sub(over) > stay && !l.Draining() {
			l.Log.Error("a handler ignores the end of its context, its worker is stuck", t.route.about(t.d)...)
			l.abandon(t, l.overdue(t))
		}
	}
	l.saturated = slow > 0 && slow == l.running && l.running >= l.places()
}

// overdue is the result of a task whose handlers ignore the end of their context.
func (l *Loop) overdue(t *task) work.Result {
	if !t.stopped.IsZero() {
		return work.Result{Action: work.Release, Reason: "stuck", Error: "the handler ignored the end of its context"}
	}
	return work.Result{
		Action: work.Retry, Reason: work.ReasonTimeout, Policy: t.route.policy,
		Error: fmt.Sprintf("not done after %s, and the handler ignored the end of its context", t.route.timeout),
	}
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

// renewable returns the tasks whose lease is due for renewal, once a third of the lease. The caller holds the mutex.
func (l *Loop) renewable(now time.Time) []*task {
	if l.extending || now.Before(l.extendAt) {
		return nil
	}
	var due []*task
	for _, t := range l.slots {
		if t == nil || t.state != running && t.state != returned || t.item.Acked() {
			continue
		}
		if now.Sub(t.renewed) > l.Lease/3 {
			due = append(due, t)
		}
	}
	l.extending = len(due) > 0
	return due
}

// renew extends leases in one statement and cancels the handlers of those that are lost.
func (l *Loop) renew(tasks []*task) {
	ctx, cancel := context.WithTimeout(l.Context(), l.Lease/3)
	defer cancel()
	items := make([]work.Item, len(tasks))
	for i, t := range tasks {
		items[i] = t.item
	}
	sent := time.Now()
	lost, err := l.Source.Extend(ctx, items, l.Lease)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.extending = false
	if err != nil {
		now := time.Now()
		l.extendAt = now.Add(min(l.Lease/10, time.Second))
		if !feed.QueueLost(err) && l.Context().Err() == nil && l.extendSaid.Due() {
			l.Log.Warn("cannot renew leases, trying on", "source", l.Source.Key(), "error", err)
		}
		if db.Unavailable(err) {
			go l.Unavailable(err)
		}
		return
	}
	gone := make(map[work.Item]bool, len(lost))
	for _, it := range lost {
		gone[it] = true
	}
	for _, t := range tasks {
		switch {
		case !gone[t.item]:
			t.renewed, t.leaseEnd = sent, sent.Add(l.Lease)
		case t.state == running && !t.item.Acked():
			// A handler that settles in its own transaction loses the lease by doing so; that is no reason to cancel it.
			t.stop(time.Now(), nexus.ErrLeaseLost)
		}
	}
}
