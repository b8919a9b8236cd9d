package svc

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	calledFor = 10 * time.Second
	// CallAgain is how long a flag is up before it is put up anew.
	CallAgain = 4 * time.Second

	// Calls are too many from so many on within countFor.
	tooMany  = 20
	countFor = 200 * time.Millisecond

	// silentFor is how long nobody is to call after they were too many.
	silentFor = 2 * time.Second
)

// Flag asks whoever writes to call. Commits that call go one after the other, in all of the database, and each call costs the runner a look, also
// where it is for what is in hand. So where many come the flag is taken down, and it stays down while there is much to do; the runner looks often then.
type Flag struct {
	Say    func(ctx context.Context, d time.Duration) error // zero: nobody is to call any more
	calls  atomic.Int64                                     // since when they are counted
	came   atomic.Int64                                     // when a look last brought something
	Busy   time.Duration                                    // there is much to do while some came no longer ago
	since  time.Time
	up     time.Time // when it was last put up; zero: it is down
	silent time.Time // it stays down until then
}

// Called counts a call.
func (f *Flag) Called() { f.calls.Add(1) }

// Fetched notes that a look brought something.
func (f *Flag) Fetched() { f.came.Store(time.Now().UnixNano()) }

// Quieten takes the flag down where calls are too many.
func (f *Flag) Quieten(ctx context.Context, now time.Time) error {
	if now.Sub(f.since) > countFor {
		f.since = now
		f.calls.Store(0)
	}
	if f.up.IsZero() || f.calls.Load() < tooMany {
		return nil
	}
	f.up, f.silent = time.Time{}, now.Add(silentFor)
	return f.Say(ctx, 0)
}

// IsSilent reports whether nobody is to call for now.
func (f *Flag) IsSilent(now time.Time) bool {
	return now.Before(f.silent) || now.Sub(time.Unix(0, f.came.Load())) < f.Busy
}

// IsDue reports whether the flag should be put up, or put up anew.
func (f *Flag) IsDue(now time.Time) bool { return !f.IsSilent(now) && now.Sub(f.up) >= CallAgain }

// Raise puts the flag up, and reports whether it was down: whoever wrote before and has not committed yet calls nobody.
func (f *Flag) Raise(ctx context.Context, now time.Time) (doubt bool, err error) {
	doubt = now.Sub(f.up) >= calledFor
	f.up = now
	return doubt, f.Say(ctx, calledFor)
}
