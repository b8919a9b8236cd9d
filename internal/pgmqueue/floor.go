package pgmqueue

import "time"

const (
	// lateCommit is how far the floor trails behind: an emitter whose transaction took its id this long before committing
	// is still met by the ordinary walk. Measured: a floor at the last find makes 8 % of the events wait for a sweep.
	lateCommit = 2 * time.Second

	// walkEvery is how often a queue that has more than a claim takes is looked at from the floor; in between, claims go on where the
	// last one ended. What was deleted since lies above the floor, and every walk passes over it.
	walkEvery = 100 * time.Millisecond

	markEvery = 250 * time.Millisecond // finer marks would gain nothing
	minWindow = 100
	maxWindow = 4_000  // some 5 ms of looking
	widest    = 10_000 // of core_node.claim

	// crowd is how many rows of no interest in one window make the walk go on strictly from where it stands.
	crowd = 500
)

// floor decides from where the next claim walks the queue. Below it lie rows that were looked at; starting at the head of the
// queue each time would walk over everything in flight, waiting and dead.
type floor struct {
	start int64  // nothing lies before
	marks []mark // oldest first, the first one is the floor once it is old enough
	base  int64

	ahead  int64     // where a claim that took all it could ended; 0: the last one did not
	walked time.Time // when the last walk from the floor began

	// While many rows of no interest (types of other nodes) lie about, the walk goes on strictly from cursor, in larger
	// windows; late commits are then the sweep's.
	cursor int64
	until  time.Time
	window int // 0: fits the limit

	// What is left of levels that there were lies beyond this one, above all ids to come. The walk goes through it, and then begins at the
	// floor again, which stays below.
	passed time.Time // when it last came to the end there
}

type mark struct {
	at  time.Time
	pos int64
}

// from returns where to start and how many rows to look at.
func (f *floor) from(now time.Time, limit int) (pos int64, window int) {
	// No more than the limit, if it may be: what a window locks and leaves was written to for nothing, and hidden from others.
	window = max(f.window, limit, minWindow)
	if now.Before(f.until) {
		return f.cursor, window
	}
	for len(f.marks) > 0 && now.Sub(f.marks[0].at) >= lateCommit {
		f.base = f.marks[0].pos
		f.marks = f.marks[1:]
	}
	if f.ahead > f.base && now.Sub(f.walked) < walkEvery {
		return f.ahead, window
	}
	f.walked = now
	return f.base, window
}

// beyond reports whether a position lies behind all ids to come.
func (f *floor) beyond(pos int64) bool { return pos >= f.start+levelSpan }

// found learns from a walk. It reports whether there is more to look at right away.
func (f *floor) found(now time.Time, limit, window int, r *seen) (more bool) {
	away := f.beyond(f.ahead) || f.beyond(f.cursor)
	more = f.learn(now, limit, window, r)
	switch {
	case away && !more: // who was woken by something new may have looked there
		f.passed, f.cursor, f.until = now, 0, time.Time{}
		return true
	case f.beyond(f.cursor) && now.Before(f.until) && now.Sub(f.passed) < lateCommit && len(r.Items)+r.Buried < limit:
		// Else each claim would walk through a crowd there.
		f.cursor, f.until, f.window = 0, time.Time{}, 0
		return false
	}
	return more
}

func (f *floor) learn(now time.Time, limit, window int, r *seen) (more bool) {
	f.ahead = 0
	if r.looked == 0 {
		f.window = 0
		return false
	}
	pos := r.lowest
	if len(r.Items) == 0 {
		pos = r.scannedTo + 1
	}
	if !f.beyond(pos) {
		f.mark(now, pos)
	}

	filled := len(r.Items)+r.Buried >= limit
	full := r.looked >= window
	if filled {
		f.ahead = r.highest + 1
	} else if full && 4*(len(r.Items)+r.Buried) >= 3*limit && !now.Before(f.until) {
		// Nearly filled: the few rows of no interest are not worth a larger window.
		f.ahead, f.window = r.scannedTo+1, 0
		return true
	}
	if r.looked-len(r.Items) >= crowd || full && !filled {
		f.cursor, f.until = r.scannedTo+1, now.Add(lateCommit)
		if filled {
			f.cursor = r.highest + 1 // rows of interest may lie between the last one taken and the end of the window
		}
	}
	if full && !filled {
		f.window = min(4*window, maxWindow)
		return true
	}
	f.window = 0
	return filled
}

func (f *floor) mark(now time.Time, pos int64) {
	if n := len(f.marks); n > 0 && now.Sub(f.marks[n-1].at) < markEvery {
		f.marks[n-1].pos = min(f.marks[n-1].pos, pos)
		return
	}
	f.marks = append(f.marks, mark{now, pos})
}

// restart walks the queue from its start, once.
func (f *floor) restart(now time.Time) {
	f.ahead, f.cursor, f.until, f.window, f.passed = 0, f.start, now.Add(lateCommit), maxWindow, time.Time{}
}

// lower makes the walk start at pos again, where a sweep has met more than it could take.
func (f *floor) lower(pos int64) {
	f.base = min(f.base, pos)
	for i := range f.marks {
		f.marks[i].pos = min(f.marks[i].pos, pos)
	}
	f.ahead, f.until = 0, time.Time{}
}
