package pgmqueue

import (
	"math/rand/v2"
	"time"
)

const (
	sweepMin, sweepMax = time.Second, 3 * time.Second

	// sweepShare bounds the time spent sweeping: a sweep that took d is followed by none for sweepShare × d. With a held
	// xmin horizon and many dead rows one takes 50 ms.
	sweepShare  = 50
	sweepBackup = time.Minute // but there is always a next one
)

// sweep says when a claim goes by due time, past the floor: expired leases, due retries and late commits lie below it.
type sweep struct {
	next   time.Time
	swept  time.Time     // the end of the last one
	took   time.Duration // without the time that taking items needs
	under  bool          // one is under way
	window int           // 0: fits the limit

	walking time.Time // since when the queue is walked from its start in place of a sweep, zero if it is not
}

// due reports whether the claim that is made now should sweep. Where claims are rare each of them does, since a sweep sees everything,
// unless a crowd of other types hides it. Who was woken looks at the new end first.
func (s *sweep) due(now time.Time, woken, rare bool) bool {
	if s.under || woken || !s.walking.IsZero() {
		return false
	}
	if now.Sub(s.swept) < min(sweepShare*s.took, sweepBackup) {
		return false
	}
	return !now.Before(s.next) || s.window == 0 && rare
}

// done learns from a sweep that looked at some of window rows. It reports whether so many rows of no interest are due that no sweep sees
// past them; then the queue has to be walked from its start, which counts as the sweep.
func (s *sweep) done(now time.Time, took time.Duration, window, looked int, more bool) (crowded bool) {
	s.under = false
	s.swept, s.took = now, took
	s.next = now.Add(sweepMin + rand.N(sweepMax-sweepMin))
	switch {
	case more || looked < window:
		s.window = 0
	case window < maxWindow:
		s.window = min(4*window, maxWindow)
		s.next = now
	default:
		s.walking = now
		return true
	}
	return false
}

// reached says that a claim has come to the end of the queue, which ends a walk.
func (s *sweep) reached(now time.Time) {
	if !s.walking.IsZero() {
		s.swept, s.took, s.walking = now, now.Sub(s.walking), time.Time{}
	}
}
