package feed

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/seldom"
)

// exchangeTimeout bounds one exchange with the database; a server that hangs longer is treated like one that is away.
const exchangeTimeout = 30 * time.Second

// Config of a feed.
type Config struct {
	Key  string        // names the source in the log and in wake-ups
	Poll time.Duration // the longest pause, but for that of a lookout
	Log  *slog.Logger

	// Announce asks emitters to send a wake-up for this source for so long; zero takes that back. Whoever keeps a lookout for the source
	// from then on says what it sees by Looked.
	Announce func(ctx context.Context, d time.Duration) error

	// Unavailable is told of each failure that looks like a server that is away or read-only, in a goroutine of its own.
	Unavailable func(err error)

	Absence *Absence // of the node; nil: one of its own
}

// Feed is what an engine claims by.
type Feed struct {
	cfg  Config
	ctx  context.Context // of exchanges; ends when the engine has given up
	end  context.CancelFunc
	kick chan struct{} // something changed that whoever claims may act on

	draining atomic.Bool

	announcing sync.Mutex // comes before mu: one announcement after the other

	mu       sync.Mutex
	pace     pace
	looked   time.Time // when the lookout was last answered, until a claim is thought of
	due      bool      // what it saw
	lastGood time.Time // of a fetch, or of having no room for one while some handler may come back
	failures int       // exchanges in a row
	retryAt  time.Time
	lastErr  error // of the last exchange, nil if it worked
	said     seldom.Line
}

// New makes a feed that has not fetched yet.
func New(cfg Config) *Feed {
	if cfg.Absence == nil {
		cfg.Absence = new(Absence)
	}
	f := &Feed{cfg: cfg, kick: make(chan struct{}, 1), pace: pace{poll: cfg.Poll, pause: firstPause}}
	f.ctx, f.end = context.WithCancel(context.Background())
	return f
}

// Key names the source in wake-ups.
func (f *Feed) Key() string { return f.cfg.Key }

// Context is that of exchanges with the database. It ends by End.
func (f *Feed) Context() context.Context { return f.ctx }

// Exchange is the context of one exchange with the database.
func (f *Feed) Exchange() (context.Context, context.CancelFunc) {
	return context.WithTimeout(f.ctx, exchangeTimeout)
}

// End gives up on the database: exchanges under way fail, and no other begins.
func (f *Feed) End() { f.end() }

// Stir makes whoever waits look what there is to do.
func (f *Feed) Stir() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// Wait waits until somebody stirs, until then, or for a second, so that an engine without room still shows that it lives.
func (f *Feed) Wait(until time.Time) {
	wait := time.Second
	if !until.IsZero() {
		wait = min(time.Until(until), wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-f.kick:
	case <-f.ctx.Done():
	case <-timer.C:
	}
}

// Wake makes the engine look for work at once.
func (f *Feed) Wake() {
	f.Again()
	f.Stir()
}

// Again lets the next claim come at once, whatever the last one brought.
func (f *Feed) Again() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pace.wake = true
}

// Looked says that the source was looked at while the engine waits, and whether something is due there, whoever may handle it.
func (f *Feed) Looked(due bool) {
	f.mu.Lock()
	f.looked, f.due = time.Now(), f.due || due
	f.mu.Unlock()
	f.Stir()
}

// LastFetch is when the source last answered a claim, or when there was last no room for one, since handlers ran that may come back.
func (f *Feed) LastFetch() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lastGood
}

// Fetched says that the source has answered, or that there was no room for a claim.
func (f *Feed) Fetched(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastGood = now
}

// Drain lets nothing be claimed any more. What is left to be said to the database is said at once: there is no later.
func (f *Feed) Drain() {
	f.mu.Lock()
	f.failures, f.retryAt = 0, time.Time{}
	f.mu.Unlock()
	f.draining.Store(true)
}

// Draining reports whether Drain was called.
func (f *Feed) Draining() bool { return f.draining.Load() }

// Begin begins to think of a claim. Until the time that it returns, if any, the database is to be left alone.
func (f *Feed) Begin(now time.Time) (until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Before(f.retryAt) {
		return f.retryAt
	}
	if !f.looked.IsZero() {
		// It counts as a fetch once somebody who would have fetched has seen it.
		f.lastGood = f.looked
		f.pace.lookedAt(f.looked, f.due)
		f.looked, f.due = time.Time{}, false
	}
	f.pace.unwatched(now)
	return time.Time{}
}

// Due reports whether it is time to claim.
func (f *Feed) Due(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pace.due(now)
}

// Next is when the next claim is due.
func (f *Feed) Next() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pace.next
}

// NextAt puts the next claim at a time.
func (f *Feed) NextAt(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pace.next = at
}

// Resting reports whether the last claim brought nothing more.
func (f *Feed) Resting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pace.pause > firstPause
}

// Claiming says that a claim is being made. woken is whether somebody called since the last one; rare, whether claims are so rare that
// each may look more thoroughly.
func (f *Feed) Claiming() (woken, rare bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pace.claiming(time.Now())
	woken, f.pace.wake = f.pace.wake, false
	return woken, f.pace.rare()
}

// Claimed says that a claim brought n items, and whether there is surely more.
func (f *Feed) Claimed(now time.Time, n int, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pace.claimed(now, n, more)
}

// HeldBack says that limits left no room for more than the n items that a claim brought: for d, or for zero until something is settled.
func (f *Feed) HeldBack(now time.Time, n int, d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pace.heldBack(now, n, d)
}

// Freed says that items of the engine's are settled, or are with the next claim, which ends the wait for that.
func (f *Feed) Freed(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pace.freed(now)
}

// Announcement is what emitters are to be told now by Tell: to call for so long, not to call if it is negative, nothing if it is zero.
func (f *Feed) Announcement(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.pace.callMe(now):
		f.pace.announced = now
		f.pace.next = now // whoever emitted before the flag was up did not call: look once more
		return announceFor
	case f.pace.callOff(now):
		f.pace.announced = time.Time{}
		f.pace.next = now // it may have rested, since it counted on being called
		return -1
	}
	return 0
}

// Tell raises or lowers the flag that makes emitters call. Without it work is found by polling, only later. The database hears last what
// was decided last: a flag that is down under an engine which counts on it costs each event seconds.
func (f *Feed) Tell(d time.Duration) {
	f.announcing.Lock()
	defer f.announcing.Unlock()
	f.mu.Lock()
	waits := !f.pace.announced.IsZero()
	f.mu.Unlock()
	if waits != (d > 0) {
		return // decided otherwise since, and whoever did says so
	}
	ctx, cancel := f.Exchange()
	defer cancel()
	if err := f.cfg.Announce(ctx, max(d, 0)); err != nil {
		f.Failed(err)
	}
}

// Failed backs off after an exchange that did not work.
func (f *Feed) Failed(err error) {
	if f.ctx.Err() != nil {
		return
	}
	now := time.Now()
	f.mu.Lock()
	f.failures++
	failures := f.failures
	f.lastErr = err
	f.retryAt = now.Add(Backoff(failures))
	f.mu.Unlock()
	switch {
	case f.cfg.Absence.note(err, f.cfg.Key, f.cfg.Log):
		f.Fetched(now) // the database answered, and a restart of this process would mend nothing
	case tableGone(err, failures):
	case f.said.Due():
		f.cfg.Log.Warn("cannot claim or settle, trying on", "source", f.cfg.Key, "failures", failures, "error", err)
	}
	f.Suspect(err)
}

// Suspect tells of a failure that looks like a server that is away or read-only. One that does not answer in time is treated so.
func (f *Feed) Suspect(err error) {
	if db.Unavailable(err) || errors.Is(err, context.DeadlineExceeded) {
		go f.cfg.Unavailable(err)
	}
}

// Recovered ends a time of failures.
func (f *Feed) Recovered() {
	f.mu.Lock()
	failures := f.failures
	f.failures, f.retryAt, f.lastErr = 0, time.Time{}, nil
	f.mu.Unlock()
	if failures == 0 {
		return
	}
	f.said.Over()
	if back := f.cfg.Absence.over(f.cfg.Key); back != "" {
		f.cfg.Log.Info(back, "source", f.cfg.Key)
	}
	f.cfg.Log.Info("claiming again", "source", f.cfg.Key, "failures", failures)
}

// Trouble is the error of the last exchange, nil if it worked, and how many have failed in a row.
func (f *Feed) Trouble() (failures int, last error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failures, f.lastErr
}
