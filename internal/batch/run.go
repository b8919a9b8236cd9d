package batch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/work"
)

// Start starts claiming.
func (b *Batches) Start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Fetched(time.Now())
	b.alive = true
	b.helpers.Go(b.monitor)
	go b.claims()
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
		if _, all := b.share.Stuck(); all.IsZero() {
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
	if b.base > 0 {
		n = 1 + int((b.whole+b.base-1)/b.base)
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
	if err == nil {
		b.SayClaimed(b.source, got)
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
	if got.HeldBack != "" {
		b.HeldBack(now, n, got.HeldFor)
		return
	}
	b.Claimed(now, n, got.More)
}

// nextAlone claims again, since the turn of the node is free for an item that has to go alone.
func (b *Batches) nextAlone() {
	b.source.TurnFree()
	b.Wake()
}

// monitor has leases renewed and gives up handlers that ignore the end of their context, until everything has ended.
func (b *Batches) monitor() {
	for pause(b.Context(), b.keeper.Every()) {
		b.mu.Lock()
		now := time.Now()
		for t := range b.busy {
			if t.call != nil && t.call.Overdue(now) {
				t.call.GiveUp()
			}
		}
		b.keeper.Look(b.Context(), now, b.leased)
		b.mu.Unlock()
	}
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
	b.giveUpAll()
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

// Quit takes up nothing new, and waits until no claim is under way, or until ctx ends. Finish or Stop comes after it.
func (b *Batches) Quit(ctx context.Context) {
	b.Drain()
	b.Stir()
	b.await(ctx, func() bool { return !b.alive })
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
	b.changed.Broadcast() // for those that wait for a place, or to be alone
}

// giveUpAll gives up all handlers that are not back, and those that begin from now on.
func (b *Batches) giveUpAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hurry = true
	for t := range b.busy {
		if t.call != nil {
			t.call.GiveUp()
		}
	}
}

// Work claims and handles up to limit items that are due, in the caller's goroutine as far as batches go, and returns how many.
// It must not have been started.
func (b *Batches) Work(ctx context.Context, limit int) (handled int, err error) {
	defer context.AfterFunc(ctx, b.cancelAll)()
	b.helpers.Go(b.monitor)
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
