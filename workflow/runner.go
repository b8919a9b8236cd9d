package workflow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/svc"
	"github.com/nexuspg/nexus/internal/work"
)

const (
	slotsByDefault = 50
	claimMost      = 1000 // that core_node.claim_runs gives
	firstPause     = 5 * time.Millisecond
	idleAfter      = 250 * time.Millisecond // of pause, from which on whoever writes is asked to call
	calledFor      = 10 * time.Second
	callAgain      = 4 * time.Second
	crowdedFor     = 10 * time.Millisecond // to wait for more free slots before a claim for few
	cedeAfter      = 100                   // steps of one run, when no slot is free
)

// runner has the runs of a workflow go on, each cursor in a goroutine of its own while it is in hand.
type runner struct {
	svc.Runner
	flow *flow
	h    *svc.Host
	def  int64
	key  atomic.Pointer[string]
	kick chan struct{}
	flag svc.Flag
	last atomic.Int64 // when the database last answered a claim

	slots        int
	lease        time.Duration
	steps, holds *gate // for code without a transaction, and with one
	commits      chan *commit
	together     together

	mu     sync.Mutex
	hands  map[*hand]bool
	broken map[string]int // how often code has lost its transaction
	take   func([]*hand)  // has hands go on in place of others; nil: none is to
	behind behind
	plenty bool // the last claim brought as many as were asked for
}

func newRunner(f *flow, h *svc.Host) *runner {
	s := f.set()
	r := &runner{flow: f, h: h, kick: make(chan struct{}, 1), slots: s.slots, lease: s.lease, hands: map[*hand]bool{}, broken: map[string]int{}}
	if r.slots == 0 {
		r.slots = slotsByDefault
	}
	if r.lease == 0 {
		r.lease = h.Lease
	}
	r.last.Store(time.Now().UnixNano())
	r.steps, r.holds = newGate(h.LeasedPlaces), newGate(h.Places)
	r.Runner = svc.Serve(h, r.serve)
	return r
}

// Keys implements [svc.Runner].
func (r *runner) Keys() []string {
	if key := r.key.Load(); key != nil {
		return []string{*key}
	}
	return nil
}

// Wake implements [svc.Runner].
func (r *runner) Wake() {
	r.flag.Called()
	r.stir()
}

// stir has the runner look at once.
func (r *runner) stir() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// LastFetch implements [svc.Runner].
func (r *runner) LastFetch() time.Time { return time.Unix(0, r.last.Load()) }

// Stuck implements [svc.Runner].
func (r *runner) Stuck() (places int, all time.Time) {
	places, all = r.steps.share.Stuck()
	more, since := r.holds.share.Stuck()
	if all.IsZero() {
		all = since
	}
	return places + more, all
}

// Stop implements [svc.Runner].
func (r *runner) Stop(grace context.Context) {
	r.Runner.Stop(grace)
	r.leave()
}

func (r *runner) leave() {
	r.steps.end()
	r.holds.end()
}

// prepare registers the workflow, and starts what serves all hands. end waits for it.
func (r *runner) prepare(ctx context.Context) (end func(), err error) {
	steps, err := r.flow.compiled()
	if err != nil {
		return nil, err
	}
	r.flow.closed.Store(true)
	if r.def, err = r.register(ctx, steps); err != nil {
		return nil, err
	}
	r.commits = make(chan *commit, groupMost)
	r.together.gathering = make(chan struct{}, 1)
	var all sync.WaitGroup
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	all.Go(func() { r.renew(renewing) })
	for range committers {
		all.Go(r.committing)
	}
	return func() {
		close(r.commits)
		stop()
		all.Wait()
	}, nil
}

// Work implements [svc.Runner].
func (r *runner) Work(ctx context.Context, limit int) (done int, err error) {
	defer r.leave()
	end, err := r.prepare(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	for done < limit && ctx.Err() == nil {
		r.behind = behind{}
		claimed, err := r.claim(ctx, min(r.slots, limit-done, claimMost))
		if err != nil || len(claimed) == 0 {
			return done, err
		}
		r.hold(claimed)
		for _, h := range claimed {
			h.most = max(limit-done, 1)
			h.work(ctx)
			done += max(h.did, 1) // a step that failed is work as well: what waited for it may be due now
		}
	}
	return done, ctx.Err()
}

// serve claims until ctx ends; what is in hand then may finish its step within the grace time.
func (r *runner) serve(ctx context.Context) error {
	end, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	defer end()
	key, _, err := r.pace(ctx)
	if err != nil {
		return err
	}
	r.key.Store(&key)
	if err := r.h.Can(ctx, work.Abilities{Workflows: []string{fmt.Sprintf("%s#%d", r.flow.name, r.def)}}); err != nil {
		return err
	}
	var hands sync.WaitGroup
	defer hands.Wait()
	take := func(claimed []*hand) {
		r.hold(claimed)
		for _, h := range claimed {
			hands.Go(func() { h.work(ctx) })
		}
	}
	r.handOn(take)
	defer r.handOn(nil)

	r.flag.Say = func(ctx context.Context, d time.Duration) error { return r.h.Announce(ctx, key, d) }
	r.flag.Busy = idleAfter
	pause, again := firstPause, firstPause
	for ctx.Err() == nil {
		if err := r.flag.Quieten(ctx, time.Now()); err != nil {
			return err
		}
		free := r.crowded(ctx)
		if free <= 0 {
			r.wait(ctx, r.h.Poll)
			continue
		}
		claimed, err := r.claim(ctx, min(free, claimMost))
		if ctx.Err() != nil && len(claimed) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if len(claimed) > 0 {
			r.flag.Fetched()
			take(claimed)
			pause, again = firstPause, firstPause
			if len(claimed) < min(free, claimMost) {
				r.wait(ctx, firstPause)
			}
			continue
		}
		if pause < min(r.h.Poll, idleAfter) {
			r.wait(ctx, pause)
			pause *= 2
			continue
		}
		if now := time.Now(); r.flag.IsDue(now) {
			// What was written before the flag is up calls nobody, so there is one more look.
			if _, err := r.flag.Raise(ctx, now); err != nil {
				return err
			}
			continue
		}
		_, due, err := r.pace(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		wait := min(pause, r.h.Poll, svc.CallAgain)
		if r.flag.IsSilent(time.Now()) {
			wait = min(wait, idleAfter)
		}
		if due >= 0 {
			// What stays due may not be had just now: somebody has locked it, or its workflow has as many runs under way as it may.
			wait = min(wait, max(due, again))
			again = min(2*again, idleAfter)
		}
		r.wait(ctx, wait)
		pause = min(2*pause, r.h.Poll)
	}
	return nil
}

// free is how many slots are.
func (r *runner) free() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slots - len(r.hands)
}

// few is how many slots are enough for a claim to be worth its while.
func (r *runner) few() int { return max(r.slots/4, 1) }

// crowded is how many slots are free, after a little while if these are few: a claim costs most of what one for many costs, and runs that began
// together end one by one.
func (r *runner) crowded(ctx context.Context) (free int) {
	few, until := r.few(), time.Now().Add(crowdedFor)
	for {
		free = r.free()
		left := time.Until(until)
		if free >= few || left <= 0 || ctx.Err() != nil {
			return free
		}
		r.wait(ctx, left)
	}
}

func (r *runner) hold(claimed []*hand) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range claimed {
		h.gone = make(chan struct{})
		r.hands[h] = true
	}
}

// forget says that a cursor is not in hand any more.
func (r *runner) forget(h *hand) {
	r.mu.Lock()
	delete(r.hands, h)
	r.mu.Unlock()
	r.stir()
}

// wait waits until somebody calls, for d at most.
func (r *runner) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-r.kick:
	case <-timer.C:
	}
}

// patiently repeats f while the database is away, as long as the lease may hold.
func (r *runner) patiently(h *hand, f func(ctx context.Context) error) error {
	for try := 1; ; try++ {
		ctx, cancel := context.WithTimeout(context.Background(), exchange)
		err := f(ctx)
		cancel()
		if err == nil || !db.Passes(err) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if db.Unavailable(err) {
			r.h.Unavailable(err)
		}
		if try > 1 && r.h.Handling.Err() != nil {
			return err
		}
		timer := time.NewTimer(feed.Backoff(try))
		select {
		case <-h.gone:
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}
