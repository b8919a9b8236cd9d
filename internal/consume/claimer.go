package consume

import (
	"errors"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/feed"
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
	if len(l.done) > 0 {
		l.Freed(now)
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
		l.SaySettled(s.results, got.Outcomes)
	}
	settled := len(s.results) > 0
	if feed.Dropped(err) {
		l.SayDropped(s.results)
		s.results = nil
	}
	refused := settled && errors.Is(err, nexus.ErrInvalid)
	if refused {
		s.results, err = l.SettleApart(l.Feed, l.source, s.results)
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.changed.Broadcast()
	if settled {
		l.settling--
	}
	l.claiming -= s.want.Limit
	l.asking -= s.places
	defer l.balance()
	for _, lim := range s.limits {
		lim.used -= s.want.Limit
	}
	if err != nil || refused {
		if err != nil {
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
	l.SayClaimed(l.source, got)
	l.noteSize(got.Bytes)
	if n := len(got.Items) + got.Buried; got.HeldBack != "" {
		l.HeldBack(now, n, got.HeldFor)
	} else {
		l.Claimed(now, n, got.More)
	}
	l.adopt(sent, s.want.Alone, got.Items)
	if got.Alone {
		l.Turn.Await(l, l.nextAlone)
	}
}
