package consume

import (
	"context"
	"errors"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/work"
)

// exchangeTimeout bounds one exchange; a server that hangs longer is treated like one that is away.
const exchangeTimeout = 30 * time.Second

// step is what a claimer does next.
type step struct {
	results  []work.Result
	ask      Ask           // claim if Limit > 0
	floor    *floor        // where the claim's find is noted
	limits   []*limit      // reserved for the claim
	places   int           // held for it
	announce time.Duration // ask emitters for wake-ups; negative: take it back
	until    time.Time     // nothing to do before; zero: until somebody stirs
	stop     bool
}

// claimer exchanges with the source until the loop is closed.
func (l *Loop) claimer() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		l.mu.Lock()
		s := l.plan(time.Now())
		l.mu.Unlock()
		switch {
		case s.stop:
			return
		case s.announce != 0:
			l.announce(max(s.announce, 0))
		case s.ask.Limit > 0 || len(s.results) > 0:
			// There may be more to do than one claimer can; let the other one look.
			l.stir()
			l.exchange(s)
		default:
			wait := time.Second // so that a loop without room still shows that it lives
			if !s.until.IsZero() {
				wait = min(time.Until(s.until), wait)
			}
			timer.Reset(wait)
			select {
			case <-l.kick:
			case <-l.ctx.Done():
			case <-timer.C:
			}
		}
	}
}

// plan decides what to do now and reserves it. The caller holds the mutex.
func (l *Loop) plan(now time.Time) step {
	l.hungry = false
	s := l.next(now)
	l.balance()
	return s
}

func (l *Loop) next(now time.Time) (s step) {
	if l.closed {
		return step{stop: true}
	}
	if now.Before(l.retryAt) {
		return step{until: l.retryAt}
	}
	if !l.looked.IsZero() {
		// It counts as a fetch once a claimer, which would have fetched, has seen it.
		l.lastGood = l.looked
		l.pace.lookedAt(l.looked, l.due)
		l.looked, l.due = time.Time{}, false
	}
	l.pace.unwatched(now)
	want := l.want(now)
	if len(l.limits) > 0 && l.claiming > 0 {
		// A claim locks what it looks at, and one without the types of limited handlers would hide their events from the other.
		want = 0
	}
	due := l.pace.wake || !now.Before(l.pace.next)
	claim := want > 0 && due
	lacking := l.lacking()
	if (claim || lacking && due) && now.Before(l.unreadyTill) {
		claim, want, lacking = false, 0, false
		s.until = l.unreadyTill
	}
	l.hungry = lacking && due
	ripe := len(l.done) >= settleBatch || l.draining || now.Sub(l.since) >= settleDelay
	if claim {
		if s.ask, s.floor, s.limits = l.ask(now, want); s.ask.Limit == 0 {
			want = 0 // every handler has as much as it may; the next that is done will stir
		}
		s.places = l.spare(s.ask.Limit)
		l.asking += s.places
	}
	if n := len(l.done); n > 0 && (ripe || s.ask.Limit > 0) {
		n = min(n, settleBatch)
		s.results = l.done[:n:n]
		l.done = l.done[n:]
		if len(l.done) == 0 {
			l.done = nil
		}
		l.settling++
	}
	switch {
	case s.ask.Limit > 0 || len(s.results) > 0:
	case l.draining || l.inline:
		if len(l.done) > 0 {
			s.until = l.since.Add(settleDelay)
		}
	case l.pace.callMe(now):
		l.pace.announced = now
		l.pace.next = now // whoever emitted before the flag was up did not call: look once more
		s.announce = announceFor
	case l.pace.callOff(now):
		l.pace.announced = time.Time{}
		s.announce = -1
	default:
		if want > 0 || lacking && !due {
			s.until = l.pace.next
		}
		if due := l.since.Add(settleDelay); len(l.done) > 0 && (s.until.IsZero() || due.Before(s.until)) {
			s.until = due
		}
	}
	return s
}

// want is how many items there is room for. The caller holds the mutex.
func (l *Loop) want(now time.Time) int {
	if l.draining || l.inline {
		return 0
	}
	places := l.places()
	free, prefetch := places-l.running, l.prefetch(places)
	outstanding := len(l.ready) + l.claiming
	room := free + prefetch - outstanding
	if free <= 0 && l.claiming == 0 {
		if _, all := l.Places.Stuck(); all.IsZero() {
			l.lastGood = now
		}
	}
	switch {
	case room <= 0:
		return 0
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
	return !l.draining && !l.inline && l.claiming == 0 && len(l.ready) == 0 && l.running < len(l.slots) && l.places() <= l.running
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

// ask makes the claim. Handlers with few workers need care: a claim for their types must not bring more than they may have
// in hand, and one without their types must not move the floor past their events. The caller holds the mutex.
func (l *Loop) ask(now time.Time, want int) (Ask, *floor, []*limit) {
	a := Ask{Types: l.patterns, MaxAttempts: l.maxAttempts, Limit: want}
	var included []*limit
	key := ""
	if len(l.limits) > 0 {
		whole := a
		l.alternate = !l.alternate
		if a, key, included = l.limited(whole, l.alternate || l.pace.pause > firstPause); len(a.Types) == 0 {
			if a, key, included = l.limited(whole, true); len(a.Types) == 0 {
				return Ask{}, nil, nil
			}
		}
	}
	f := l.floors[key]
	if f == nil {
		f = &floor{}
		l.floors[key] = f
	}
	a.Floor, a.Window = f.from(now, a.Limit)
	if f.ahead == 0 && 2*(l.running+len(l.ready)) < a.Limit {
		// Few are expected, and the others' must not be locked, or the loop they are for passes over them: what is woken together looks at
		// the same moment. A window of more than twice the limit locks only what is taken.
		a.Window = max(a.Window, min(2*a.Limit+1, widest))
	}
	if a.Sweep = l.pace.sweepNow(now); a.Sweep {
		l.pace.sweeping = true
		a.Window = max(l.pace.sweepWindow, a.Window)
	}
	l.pace.wake = false
	a.Alone = l.Turn.take()
	l.claiming += a.Limit
	for _, lim := range included {
		lim.used += a.Limit
	}
	return a, f, included
}

// limited leaves out the patterns of handlers that have no room and, unless rare is set, of all that have a limit. key names
// those left in.
func (l *Loop) limited(a Ask, rare bool) (_ Ask, key string, included []*limit) {
	out := map[string]bool{}
	for _, h := range l.Handlers.list {
		lim := l.limits[h]
		if lim == nil {
			continue
		}
		if !rare || lim.left() <= 0 {
			out[h.Pattern] = true
			continue
		}
		included = append(included, lim)
	}
	types, attempts := a.Types, a.MaxAttempts
	a.Types, a.MaxAttempts = nil, nil
	for i, p := range types {
		if !out[p] {
			a.Types, a.MaxAttempts = append(a.Types, p), append(a.MaxAttempts, attempts[i])
			key += p + "\n"
		}
	}
	for _, lim := range included {
		a.Limit = min(a.Limit, lim.left())
	}
	return a, key, included
}

// exchange settles and claims.
func (l *Loop) exchange(s step) {
	ctx, cancel := context.WithTimeout(l.ctx, exchangeTimeout)
	defer cancel()
	sent := time.Now()
	var found Found
	var err error
	if s.ask.Limit > 0 {
		found, err = l.Source.Claim(ctx, s.results, s.ask, l.Lease)
	} else {
		found.Outcomes, err = l.Source.Settle(ctx, s.results)
	}
	now := time.Now()
	if err == nil {
		l.settledWith(s.results, found.Outcomes)
	}
	l.answered(found.Outcomes)

	refused := errors.Is(err, nexus.ErrInvalid) && len(s.results) > 0
	if refused {
		l.oneByOne(s.results)
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.changed.Broadcast()
	if len(s.results) > 0 {
		l.settling--
	}
	l.claiming -= s.ask.Limit
	l.asking -= s.places
	defer l.balance()
	for _, lim := range s.limits {
		lim.used -= s.ask.Limit
	}
	if s.ask.Sweep {
		l.pace.sweeping = false
	}
	if err != nil {
		if !refused {
			l.done = append(s.results, l.done...)
			if len(s.results) > 0 {
				l.since = now
			}
			l.pace.wake = l.pace.wake || s.ask.Limit > 0
			l.failed(now, err)
		}
		if s.ask.Alone {
			l.Turn.free()
		}
		return
	}
	l.recovered()
	if s.ask.Limit == 0 {
		return
	}
	l.lastGood = now
	if l.Observer != nil {
		l.Observer.Claimed(found.Items, found.Buried)
	}
	l.noteSize(found.Bytes)
	n := len(found.Items) + found.Buried
	more := n >= s.ask.Limit
	if s.ask.Sweep {
		took := now.Sub(sent)
		if more {
			// Too much for sweeps: let the ordinary walk have it, from there on. Taking so many is what took the time.
			s.floor.lower(found.Lowest)
			took = 0
		}
		if crowded := l.pace.sweptNow(now, took, s.ask, found, more); crowded {
			s.floor.restart(now)
			more = true
		}
	} else {
		more = s.floor.found(now, s.ask.Limit, s.ask.Window, found)
	}
	l.pace.claimed(now, n, more)
	l.adopt(sent, s.ask.Alone, found.Items)
	if found.Alone > 0 {
		if l.leftAlone == 0 || found.LeftAlone < l.leftAlone {
			l.leftAlone = found.LeftAlone
		}
		l.Turn.await(l, l.nextAlone)
	}
	if found.Buried > 0 {
		l.Log.Warn("gave up on events whose processes died, they are dead letters now", "count", found.Buried, "source", l.Source.Key())
	}
}

// noteSize foresees the size of messages from the largest ones of late.
func (l *Loop) noteSize(bytes int) {
	if bytes > l.size {
		l.size = bytes
	} else {
		l.size = (l.size*7 + bytes) / 8
	}
}

// oneByOne settles results that were refused together, so that the one that cannot be settled as it is does not hold up the
// others. It becomes a plain failure that says why.
func (l *Loop) oneByOne(results []work.Result) {
	for _, r := range results {
		ctx, cancel := context.WithTimeout(l.ctx, exchangeTimeout)
		outcomes, err := l.Source.Settle(ctx, []work.Result{r})
		if errors.Is(err, nexus.ErrInvalid) {
			l.Log.Error("a verdict was refused, the event is retried", append(about(r.Item.Delivery()), "error", err)...)
			plain := work.Result{Item: r.Item, Action: work.Retry, Reason: work.ReasonError, Policy: r.Policy}
			plain.Error = work.Storable("the verdict was refused ("+err.Error()+"): "+r.Error, work.MaxText)
			outcomes, err = l.Source.Settle(ctx, []work.Result{plain})
			if errors.Is(err, nexus.ErrInvalid) && plain.Policy != "" {
				plain.Policy = "" // it may be what cannot be settled
				outcomes, err = l.Source.Settle(ctx, []work.Result{plain})
			}
		}
		cancel()
		if err == nil {
			l.settledWith([]work.Result{r}, outcomes)
		}
		switch {
		case errors.Is(err, nexus.ErrInvalid):
			l.Log.Error("a result cannot be settled, the event runs again when its lease ends", append(about(r.Item.Delivery()), "error", err)...)
		case err != nil:
			l.mu.Lock()
			l.settle(r)
			l.failed(time.Now(), err)
			l.mu.Unlock()
		}
		l.answered(outcomes)
	}
}

// failed backs off after an exchange that did not work. The caller holds the mutex.
func (l *Loop) failed(now time.Time, err error) {
	if errors.Is(err, context.Canceled) && l.ctx.Err() != nil {
		return
	}
	l.failures++
	l.lastErr = err
	l.retryAt = now.Add(backoff(l.failures))
	switch {
	case l.Absence.note(err, l.Source.Key(), l.Log):
		l.lastGood = now // the database answered, and a restart of this process would mend nothing
	case tableGone(err, l.failures):
	case now.Sub(l.logged) > sayEvery:
		l.logged = now
		l.Log.Warn("cannot claim or settle, trying on", "source", l.Source.Key(), "failures", l.failures, "error", err)
	}
	if db.Unavailable(err) || errors.Is(err, context.DeadlineExceeded) {
		go l.Unavailable(err)
	}
}

// recovered ends a time of failures. The caller holds the mutex.
func (l *Loop) recovered() {
	if l.failures == 0 {
		return
	}
	if l.Absence.over() {
		l.Log.Info("the queue's tables are back", "source", l.Source.Key())
	}
	l.Log.Info("claiming again", "source", l.Source.Key(), "failures", l.failures)
	l.failures, l.retryAt, l.logged, l.lastErr = 0, time.Time{}, time.Time{}, nil
}

// announce raises or lowers the flag that makes emitters call. Without it work is found by polling, only later. The database hears
// last what was decided last: a flag that is down under a loop which counts on it costs each event seconds.
func (l *Loop) announce(d time.Duration) {
	l.announcing.Lock()
	defer l.announcing.Unlock()
	l.mu.Lock()
	waits := !l.pace.announced.IsZero()
	l.mu.Unlock()
	if waits != (d > 0) {
		return // the other claimer has decided otherwise since, and says so
	}
	ctx, cancel := context.WithTimeout(l.ctx, exchangeTimeout)
	defer cancel()
	if err := l.Announce(ctx, d); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.failed(time.Now(), err)
	}
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
		l.handle(t, 0)
		l.await(ctx, func() bool { err = l.lastErr; return len(l.done) == 0 && l.settling == 0 || l.failures >= workTries })
		if err != nil {
			return handled, err
		}
	}
	return handled, ctx.Err()
}

// nextDue claims one due item for Work; nil if nothing is due.
func (l *Loop) nextDue(ctx context.Context) (*task, error) {
	var f floor
	for {
		now := time.Now()
		ask := Ask{Types: l.patterns, MaxAttempts: l.maxAttempts, Limit: 1, Alone: true}
		ask.Floor, ask.Window = f.from(now, maxBatch)
		found, err := l.Source.Claim(ctx, nil, ask, l.Lease)
		if err != nil {
			return nil, err
		}
		if l.Observer != nil {
			l.Observer.Claimed(found.Items, found.Buried)
		}
		l.mu.Lock()
		l.adopt(now, false, found.Items)
		if len(l.ready) > 0 {
			t := l.ready[0]
			l.ready = nil
			l.slots[0] = t
			l.running++
			l.start(t)
			l.mu.Unlock()
			return t, nil
		}
		l.mu.Unlock()
		if more := f.found(now, 1, ask.Window, found); !more {
			return nil, nil
		}
	}
}
