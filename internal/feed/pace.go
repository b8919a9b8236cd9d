package feed

import (
	"math/rand/v2"
	"time"
)

const (
	firstPause = 5 * time.Millisecond // after an empty claim; doubles up to Poll

	// announceAt is how many empty claims in a row make the feed ask emitters to wake it.
	announceAt = 3

	// announceFor is how long emitters believe that; it is renewed in half the time.
	announceFor = 10 * time.Second

	// lookedFor is how long an answer of the lookout holds. While it holds, an idle engine claims only every restFor: the lookout tells it
	// when something is due.
	lookedFor = 6 * time.Second
	restFor   = 30 * time.Second

	// doubtFor is how long an engine goes on claiming after it has asked emitters to call: one that looked before whether it should, and commits
	// after the next claim, calls nobody.
	doubtFor = time.Second

	// busyFor is how long work must have come without a gap before emitters are spared the notifications.
	busyFor = 200 * time.Millisecond

	// gapFor is a gap between two claims in which an engine had nothing to do. One that is called makes no empty claims by which to tell.
	gapFor = 40 * time.Millisecond

	// rareFrom is the pause from which on claims count as rare.
	rareFrom = 250 * time.Millisecond

	// shortestHold is how long a claim that a limit held back is at least not tried again, longestHold at most: limits may be altered, and
	// other nodes settle.
	shortestHold, longestHold = 50 * time.Millisecond, time.Second

	minBackoff, maxBackoff = 50 * time.Millisecond, 5 * time.Second
)

// pace says when the next claim is due.
type pace struct {
	poll  time.Duration
	next  time.Time     // of the next claim
	pause time.Duration // after the next empty claim
	empty int           // claims in a row that brought nothing
	busy  time.Time     // since when each claim brought something, zero if the last one did not
	ended time.Time     // of the last claim
	wake  bool          // somebody called since the last claim

	held    time.Time // limits leave no room before, whoever calls
	settles bool      // but when something is settled

	announced time.Time // when emitters were last asked to call, zero if they need not
	looked    time.Time // when the lookout was last answered, zero if it is not trusted
}

// claiming learns when a claim begins.
func (p *pace) claiming(now time.Time) {
	if now.Sub(p.ended) > gapFor {
		p.busy = time.Time{}
	}
}

// claimed learns from a claim that brought n items; more says that there is surely more.
func (p *pace) claimed(now time.Time, n int, more bool) {
	p.ended = now
	if n > 0 {
		p.empty, p.pause = 0, firstPause
		if p.busy.IsZero() {
			p.busy = now
		}
	} else if !more {
		p.empty++
		if p.empty > announceAt {
			p.busy = time.Time{}
		}
	}
	if more {
		p.next = now
		return
	}
	wait := p.pause
	if wait >= p.poll {
		// Nodes that went idle together must not stay in step.
		wait = time.Duration(float64(p.poll) * (1 + rand.Float64()/2))
	}
	if !p.announced.IsZero() && now.Sub(p.announced) >= doubtFor && now.Sub(p.looked) < lookedFor {
		wait = restFor + rand.N(restFor/2)
	}
	p.next = now.Add(wait)
	p.pause = min(2*max(p.pause, firstPause), p.poll)
}

// heldBack learns from a claim for which limits left no room for more than the n items that it brought. There is enough to do, so
// nobody need call.
func (p *pace) heldBack(now time.Time, n int, wait time.Duration) {
	p.empty, p.ended = 0, now
	if p.busy.IsZero() {
		p.busy = now
	}
	if n > 0 {
		p.pause = firstPause
	}
	if p.settles = wait == 0; p.settles {
		wait = max(p.pause, firstPause)
		p.pause = min(2*wait, p.poll)
	} else {
		wait = max(wait, shortestHold)
	}
	p.next = now.Add(min(wait, longestHold))
	p.held = p.next
}

// freed ends the wait for room where something was settled.
func (p *pace) freed(now time.Time) {
	if p.settles && now.Before(p.held) {
		p.held, p.next, p.settles = time.Time{}, now, false
	}
}

// due reports whether it is time to claim.
func (p *pace) due(now time.Time) bool {
	return p.wake && !now.Before(p.held) || !now.Before(p.next)
}

// rare reports whether claims are far between.
func (p *pace) rare() bool { return p.pause >= min(rareFrom, p.poll) }

// lookedAt learns what the lookout saw. What is due by time is a sweep's to find.
func (p *pace) lookedAt(now time.Time, due bool) {
	p.looked = now
	if due {
		p.next = now
		if p.held.After(now) {
			p.next = p.held
		}
	}
}

// unwatched ends the long rest of an engine whose lookout has no answer any more.
func (p *pace) unwatched(now time.Time) {
	if !p.looked.IsZero() && now.Sub(p.looked) >= lookedFor {
		p.looked, p.next = time.Time{}, now
	}
}

// callMe reports whether emitters should be asked to call. A lookout goes on asking.
func (p *pace) callMe(now time.Time) bool {
	return p.empty >= announceAt && (p.announced.IsZero() || p.looked.IsZero() && now.Sub(p.announced) >= announceFor/2)
}

// callOff reports whether emitters should be told not to. Claims that bring nothing may take longer than busyFor until they count as a gap.
func (p *pace) callOff(now time.Time) bool {
	return p.empty == 0 && !p.announced.IsZero() && !p.busy.IsZero() && now.Sub(p.busy) > busyFor
}

// Backoff is the wait after the nth failure in a row.
func Backoff(n int) time.Duration {
	d := minBackoff << min(n-1, 10)
	d = min(d, maxBackoff)
	return d/2 + rand.N(d/2+1)
}
