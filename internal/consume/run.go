package consume

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

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

// worker handles one item after another. A handler may end the goroutine; its successor takes over the slot.
func (l *Loop) worker(slot int) {
	var t *task
	root := invoke.Root{Parent: l.Values}
	done := false
	defer func() {
		root.Close()
		if !done {
			l.mu.Lock()
			l.leave(t, slot)
			l.spawn(func() { l.worker(slot) })
			l.mu.Unlock()
		}
	}()
	for t = l.take(slot, nil); t != nil; t = l.take(slot, t) {
		l.handle(&root, t)
	}
	done = true
}

// take leaves the task before, if there is one, and waits for an item and a place for it; nil means that the worker is no longer needed.
func (l *Loop) take(slot int, before *task) *task {
	l.mu.Lock()
	defer l.mu.Unlock()
	var now time.Time
	if before != nil {
		now = l.leave(before, slot)
	}
	for {
		if l.Draining() {
			return nil
		}
		if len(l.ready) > 0 && l.running < l.held {
			break
		}
		l.work.Wait()
		now = time.Time{}
	}
	if now.IsZero() {
		now = time.Now()
	}
	t := l.ready[0]
	l.ready[0] = nil
	l.ready = l.ready[1:]
	l.slots[slot] = t
	l.running++
	t.started = now
	return t
}

// Quit takes up nothing new, gives back what waits, and waits until no claim is under way, or until ctx ends. Finish or Stop comes after it.
func (l *Loop) Quit(ctx context.Context) {
	l.quit()
	l.await(ctx, func() bool { return l.claiming == 0 })
}

// Finish takes up nothing new, and waits until all that is in hand has ended and is settled, or until ctx ends. It waits for a database that is
// away, as long as ctx lasts. Stop comes after it.
func (l *Loop) Finish(ctx context.Context) {
	l.quit()
	l.await(ctx, func() bool { return l.atWork() == 0 && l.claiming == 0 && len(l.done) == 0 && l.settling == 0 })
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

// Stop ends the loop: nothing new is claimed, what waits is released, handlers may go on until grace ends, then their
// contexts end, and shortly after that the items of those that still do not return are released. It returns once everything
// is settled or, without a database, cannot be. The deliveries of handlers that never returned are the result.
func (l *Loop) Stop(grace context.Context) []*nexus.Delivery {
	l.quit()
	idle := func() bool { return l.atWork() == 0 && l.claiming == 0 }
	if !l.await(grace, idle) {
		l.cancelAll(nexus.ErrDraining)
		last, cancel := context.WithTimeout(context.Background(), engine.ExitMargin)
		l.await(last, idle)
		cancel()
	}
	stayed := l.giveUpAll()

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
	l.await(context.Background(), func() bool { stuck, _ := l.share.Stuck(); return l.alive-stuck == 0 })
	l.keeper.Wait()
	l.share.Leave()
	return stayed
}

func (l *Loop) cancelAll(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.slots {
		if t != nil {
			t.call.Stop(cause)
		}
	}
}

// giveUpAll gives up all handlers that are not back, and returns their deliveries.
func (l *Loop) giveUpAll() []*nexus.Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	var stayed []*nexus.Delivery
	for _, t := range l.slots {
		if t != nil && (t.call.GivenUp() || l.giveUp(t)) {
			stayed = append(stayed, t.d)
		}
	}
	return stayed
}

// workTries is how often Work tries to settle before it returns the error; the result is then lost and the event runs again.
const workTries = 5

// Work claims and handles up to limit items that are due, one after another in the caller's goroutine, and returns how many
// it handled. The loop must not have been started. It ends early when ctx does or nothing is due.
func (l *Loop) Work(ctx context.Context, limit int) (handled int, err error) {
	l.mu.Lock()
	l.inline = true
	l.slots = make([]*task, 1)
	l.spawn(l.claimer)
	l.spawn(l.monitor)
	l.mu.Unlock()
	defer context.AfterFunc(ctx, func() { l.cancelAll(nexus.ErrDraining) })()
	defer func() {
		grace, cancel := context.WithCancel(context.Background())
		cancel()
		l.Stop(grace)
	}()
	for handled < limit && ctx.Err() == nil {
		t, err := l.nextDue(ctx)
		if err != nil || t == nil {
			return handled, err
		}
		handled++
		func() {
			root := invoke.Root{Parent: l.Values}
			defer root.Close()
			defer l.leaveOnly(t)
			l.handle(&root, t)
		}()
		l.await(ctx, func() bool {
			var failures int
			failures, err = l.Trouble()
			return len(l.done) == 0 && l.settling == 0 || failures >= workTries
		})
		if err != nil {
			return handled, err
		}
	}
	return handled, ctx.Err()
}

// leaveOnly leaves the task of Work.
func (l *Loop) leaveOnly(t *task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(t, 0)
}

// nextDue claims one due item for Work; nil if nothing is due. What was given back a moment ago may be due again.
func (l *Loop) nextDue(ctx context.Context) (*task, error) {
	want := work.Want{Types: l.patterns, MaxAttempts: l.maxAttempts, Limit: 1, Lease: l.Lease, Alone: true, Held: 1, Woken: true, Anew: true}
	for ; ; want.Anew = false {
		now := time.Now()
		got, err := l.source.Claim(ctx, nil, want)
		if err != nil {
			return nil, err
		}
		l.SayClaimed(l.source, got)
		l.mu.Lock()
		l.adopt(now, false, got.Items)
		if len(l.ready) > 0 {
			t := l.ready[0]
			l.ready = nil
			l.slots[0] = t
			l.running++
			t.started = now
			l.mu.Unlock()
			return t, nil
		}
		l.mu.Unlock()
		if !got.More {
			return nil, nil
		}
	}
}
