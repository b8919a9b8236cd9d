package outbox

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	calledFor = 10 * time.Second
	callAgain = 4 * time.Second

	// Calls are too many from so many on within countFor.
	tooMany  = 20
	countFor = 200 * time.Millisecond

	// silentFor is how long nobody is to call after they were too many.
	silentFor = 2 * time.Second
)

// flag asks whoever enqueues to call. Commits that call go one after the other, in all of the database, and each call costs the runner a look, also
// where it is for a lane that is in hand. So where many come the flag is taken down, and it stays down while messages come; the runner looks often then.
type flag struct {
	say    func(ctx context.Context, d time.Duration) error // zero: nobody is to call any more
	calls  atomic.Int64                                     // since when they are counted
	came   atomic.Int64                                     // when a fetch last brought messages
	busy   time.Duration                                    // messages come while some came no longer ago
	since  time.Time
	up     time.Time // when it was last put up; zero: it is down
	silent time.Time // it stays down until then
}

// called counts a call.
func (f *flag) called() { f.calls.Add(1) }

// fetched notes that a fetch brought messages.
func (f *flag) fetched() { f.came.Store(time.Now().UnixNano()) }

// quieten takes the flag down where calls are too many.
func (f *flag) quieten(ctx context.Context, now time.Time) error {
	if now.Sub(f.since) > countFor {
		f.since = now
		f.calls.Store(0)
	}
	if f.up.IsZero() || f.calls.Load() < tooMany {
		return nil
	}
	f.up, f.silent = time.Time{}, now.Add(silentFor)
	return f.say(ctx, 0)
}

// isSilent reports whether nobody is to call for now.
func (f *flag) isSilent(now time.Time) bool {
	return now.Before(f.silent) || now.Sub(time.Unix(0, f.came.Load())) < f.busy
}

// isDue reports whether the flag should be put up, or put up anew.
func (f *flag) isDue(now time.Time) bool { return !f.isSilent(now) && now.Sub(f.up) >= callAgain }

// raise puts the flag up, and reports whether it was down: whoever enqueued before and has not committed yet calls nobody.
func (f *flag) raise(ctx context.Context, now time.Time) (doubt bool, err error) {
	doubt = now.Sub(f.up) >= calledFor
	f.up = now
	return doubt, f.say(ctx, calledFor)
}
