package consume

import (
	"context"
	"errors"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

// step is what a claimer does next.
type step struct {
	results  []work.Result
	want     work.Want     // claim if Limit > 0
	limits   []*limit      // reserved for the claim
	places   int           // held for it
	announce time.Duration // ask emitters for wake-ups; negative: take it back
	until    time.Time     // nothing to do before; zero: until somebody stirs
	stop     bool
}

// claimer exchanges with the source until the loop is closed.
func (l *Loop) claimer() {
	for {
		l.mu.Lock()
		s := l.plan(time.Now())
		l.mu.Unlock()
		switch {
		case s.stop:
			return
		case s.announce != 0:
			l.Tell(s.announce)
		case s.want.Limit > 0 || len(s.results) > 0:
			// There may be more to do than one claimer can; let the other one look.
			l.Stir()
			l.exchange(s)
		default:
			l.Wait(s.until)
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
	if until := l.Begin(now); !until.IsZero() {
		return step{until: until}
	}
	want := l.want(now)
	if len(l.limits) > 0 && l.claiming > 0 {
		// A claim locks what it looks at, and one without the types of limited handlers would hide their events from the other.
		want = 0
	}
	due := l.Due(now)
	claim := want > 0 && due
	lacking := l.lacking()
	if (claim || lacking && due) && now.Before(l.unreadyTill) {
		claim, want, lacking = false, 0, false
		s.until = l.unreadyTill
	}
	l.hungry = lacking && due
	ripe := len(l.done) >= settleBatch || l.Draining() || now.Sub(l.since) >= settleDelay
	if claim {
		if s.want, s.limits = l.ask(want); s.want.Limit == 0 {
			want = 0 // every handler has as much as it may; the next that is done will stir
		}
		s.places = l.spare(s.want.Limit)
		l.asking += s.places
	}
	if n := len(l.done); n > 0 && (ripe || s.want.Limit > 0) {
		n = min(n, settleBatch)
		s.results = l.done[:n:n]
		l.done = l.done[n:]
		if len(l.done) == 0 {
			l.done = nil
		}
		l.settling++
	}
	switch {
	case s.want.Limit > 0 || len(s.results) > 0:
	case l.Draining() || l.inline:
		if len(l.done) > 0 {
			s.until = l.since.Add(settleDelay)
		}
	default:
		if s.announce = l.Announcement(now); s.announce != 0 {
			break
		}
		if want > 0 || lacking && !due {
			s.until = l.Next()
		}
		if due := l.since.Add(settleDelay); len(l.done) > 0 && (s.until.IsZero() || due.Before(s.until)) {
			s.until = due
		}
	}
	return s
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

// ask makes the claim. Handlers with few workers need care: a claim for their types must not bring more than they may have
// in hand, and one without their types must not move the floor past their events. The caller holds the mutex.
func (l *Loop) ask(room int) (_ work.Want, included []*limit) {
	w := work.Want{Types: l.patterns, MaxAttempts: l.maxAttempts, Limit: room, Lease: l.Lease, Held: l.running + len(l.ready)}
	if len(l.limits) > 0 {
		whole := w
		l.alternate = !l.alternate
		if w, included = l.limited(whole, l.alternate || l.Resting()); len(w.Types) == 0 {
			if w, included = l.limited(whole, true); len(w.Types) == 0 {
				return work.Want{}, nil
			}
		}
	}
	w.Woken, w.Rare = l.Claiming()
	w.Alone = l.Turn.Take()
	l.claiming += w.Limit
	for _, lim := range included {
		lim.used += w.Limit
	}
	return w, included
}

// limited leaves out the patterns of handlers that have no room and, unless rare is set, of all that have a limit.
func (l *Loop) limited(w work.Want, rare bool) (_ work.Want, included []*limit) {
	out := map[string]bool{}
	for _, h := range l.Handlers.List() {
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
	types, attempts := w.Types, w.MaxAttempts
	w.Types, w.MaxAttempts = nil, nil
	for i, p := range types {
		if !out[p] {
			w.Types, w.MaxAttempts = append(w.Types, p), append(w.MaxAttempts, attempts[i])
			w.Key += p + "\n"
		}
	}
	for _, lim := range included {
		w.Limit = min(w.Limit, lim.left())
	}
	return w, included
}

// exchange settles and claims.
func (l *Loop) exchange(s step) {
	ctx, cancel := l.Exchange()
	defer cancel()
	sent := time.Now()
	var got work.Got
	var err error
	if s.want.Limit > 0 {
		got, err = l.source.Claim(ctx, s.results, s.want)
	} else {
		got.Outcomes, err = l.source.Settle(ctx, s.results)
	}
	now := time.Now()
	if err == nil {
		l.settledWith(s.results, got.Outcomes)
	}
	l.answered(got.Outcomes)

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
	l.claiming -= s.want.Limit
	l.asking -= s.places
	defer l.balance()
	for _, lim := range s.limits {
		lim.used -= s.want.Limit
	}
	if err != nil {
		if !refused {
			l.done = append(s.results, l.done...)
			if len(s.results) > 0 {
				l.since = now
			}
			if s.want.Limit > 0 {
				l.Again()
			}
			l.Failed(err)
		}
		if s.want.Alone {
			l.Turn.Free()
		}
		return
	}
	l.Recovered()
	if s.want.Limit == 0 {
		return
	}
	l.Fetched(now)
	if l.Observer != nil {
		l.Observer.Claimed(got.Items, got.Buried)
	}
	l.noteSize(got.Bytes)
	l.Claimed(now, len(got.Items)+got.Buried, got.More)
	l.adopt(sent, s.want.Alone, got.Items)
	if got.Alone {
		l.Turn.Await(l, l.nextAlone)
	}
	if got.Buried > 0 {
		l.Log.Warn("gave up on events whose processes died, they are dead letters now", "count", got.Buried, "source", l.Key())
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

// oneByOne settles results that were refused together.
func (l *Loop) oneByOne(results []work.Result) {
	for _, r := range results {
		ctx, cancel := l.Exchange()
		outcomes, err := l.SettleAlone(ctx, l.source, r)
		cancel()
		switch {
		case err == nil:
			l.settledWith([]work.Result{r}, outcomes)
		case !errors.Is(err, nexus.ErrInvalid):
			l.mu.Lock()
			l.settle(r)
			l.mu.Unlock()
			l.Failed(err)
		}
		l.answered(outcomes)
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

// nextDue claims one due item for Work; nil if nothing is due. What was given back a moment ago may be due again.
func (l *Loop) nextDue(ctx context.Context) (*task, error) {
	want := work.Want{Types: l.patterns, MaxAttempts: l.maxAttempts, Limit: 1, Lease: l.Lease, Alone: true, Held: 1, Woken: true, Anew: true}
	for ; ; want.Anew = false {
		now := time.Now()
		got, err := l.source.Claim(ctx, nil, want)
		if err != nil {
			return nil, err
		}
		if l.Observer != nil {
			l.Observer.Claimed(got.Items, got.Buried)
		}
		l.mu.Lock()
		l.adopt(now, false, got.Items)
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
		if !got.More {
			return nil, nil
		}
	}
}
