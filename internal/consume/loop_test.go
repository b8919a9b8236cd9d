package consume_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/consume"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/places"
	"github.com/nexuspg/nexus/internal/sourcetest"
	"github.com/nexuspg/nexus/internal/work"
)

// A loop on a source in memory, with a clock that costs nothing: what takes seconds beside a database takes no time here.

const lease = 30 * time.Second

type loop struct {
	*consume.Loop
	t      *testing.T
	source *sourcetest.Memory
	log    strings.Builder
	away   atomic.Int32 // how often a failure looked like a server that is away
	ended  bool
}

// looping starts a loop with these workers in a bubble of its own.
func looping(t *testing.T, workers int, list []*handlers.Handler, test func(l *loop)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hs, err := handlers.New(list, nexus.RetryPolicy{})
		if err != nil {
			t.Fatal(err)
		}
		l := &loop{t: t, source: &sourcetest.Memory{}}
		l.Loop = consume.NewLoop(engine.Config{
			Handlers: hs, Places: places.New(workers), Lease: lease, Poll: time.Second, Values: context.WithoutCancel(t.Context()),
			Log:         slog.New(slog.NewTextHandler(&l.log, nil)),
			Announce:    func(context.Context, time.Duration) error { return nil },
			Unavailable: func(error) { l.away.Add(1) },
		}, l.source)
		l.Start()
		defer func() {
			if !l.ended {
				l.stop(0)
			}
		}()
		test(l)
	})
}

// stop gives handlers so long.
func (l *loop) stop(grace time.Duration) []*nexus.Delivery {
	l.ended = true
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return l.Stop(ctx)
}

// after lets time pass, and everything that is to happen meanwhile.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func leasedHandler(pattern string, fn func(context.Context, *nexus.Delivery) error) *handlers.Handler {
	return &handlers.Handler{Name: pattern, Pattern: pattern, Leased: fn}
}

func TestEventsAreHandledAndSettled(t *testing.T) {
	var handled atomic.Int32
	looping(t, 4, []*handlers.Handler{leasedHandler("*", func(context.Context, *nexus.Delivery) error {
		handled.Add(1)
		return nil
	})}, func(l *loop) {
		for range 500 {
			l.source.Emit("x")
		}
		after(5 * time.Second)
		if n := handled.Load(); n != 500 || l.source.Left() != 0 {
			l.t.Errorf("%d of 500 handled, %d left", n, l.source.Left())
		}
	})
}

// A server that hangs is left after half a minute and told of, and what was done meanwhile counts once it answers again.
// holds: engines
func TestAnExchangeThatTimesOut(t *testing.T) {
	var handled atomic.Int32
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(context.Context, *nexus.Delivery) error {
		handled.Add(1)
		return nil
	})}, func(l *loop) {
		var hangs atomic.Bool
		l.source.Fault(func(ctx context.Context, _ string, results []work.Result) error {
			if len(results) > 0 && hangs.CompareAndSwap(false, true) {
				<-ctx.Done()
				return fmt.Errorf("settle: %w", ctx.Err())
			}
			return nil
		})
		l.source.Emit("x")
		after(29 * time.Second)
		if handled.Load() != 1 || l.source.Left() != 1 || l.away.Load() != 0 {
			l.t.Fatalf("handled %d, left %d, told %d times", handled.Load(), l.source.Left(), l.away.Load())
		}
		after(2 * time.Second)
		if l.away.Load() != 1 {
			l.t.Errorf("told %d times that the server is away", l.away.Load())
		}
		if handled.Load() != 1 || l.source.Left() != 0 {
			l.t.Errorf("handled %d times, %d left: the result was not kept", handled.Load(), l.source.Left())
		}
	})
}

// A handler whose lease is lost is told soon, and its result is refused.
// holds: lease-keeper
func TestALeaseThatIsLostWhileItsHandlerRuns(t *testing.T) {
	var causes chan error // made in the bubble, or nobody waits durably
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(ctx context.Context, _ *nexus.Delivery) error {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil // it got done after all
	})}, func(l *loop) {
		causes = make(chan error, 1)
		id := l.source.Emit("x")[0]
		after(time.Second)
		l.source.Steal(id)
		began := time.Now()
		if cause := <-causes; !errors.Is(cause, nexus.ErrLeaseLost) {
			l.t.Errorf("the handler ended since %v", cause)
		}
		if took := time.Since(began); took > lease/3+time.Second {
			l.t.Errorf("told after %s", took)
		}
		after(time.Second)
		if got := l.source.Reasons(); got != "" || !strings.Contains(l.log.String(), "the result was refused") {
			l.t.Errorf("settled %q; the log:\n%s", got, &l.log)
		}
	})
}

// Whoever cannot renew must be done before someone else may begin.
// holds: lease-keeper
func TestALeaseThatCannotBeRenewed(t *testing.T) {
	var ended chan error // made in the bubble, or nobody waits durably
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(ctx context.Context, _ *nexus.Delivery) error {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	})}, func(l *loop) {
		ended = make(chan error, 1)
		l.source.Fault(func(_ context.Context, op string, _ []work.Result) error {
			if op == "extend" {
				return errors.New("no")
			}
			return nil
		})
		l.source.Emit("x")
		began := time.Now()
		cause := <-ended
		if took := time.Since(began); !errors.Is(cause, nexus.ErrLeaseLost) || took >= lease || took < lease/2 {
			l.t.Errorf("ended after %s since %v, with a lease of %s", took, cause, lease)
		}
		if n := strings.Count(l.log.String(), "cannot renew leases"); n != 1 {
			l.t.Errorf("%d lines about it", n)
		}
	})
}

// A lease is renewed for as long as the handler runs.
// holds: lease-keeper
func TestALeaseIsRenewed(t *testing.T) {
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(ctx context.Context, d *nexus.Delivery) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * lease):
			return nil
		}
	})}, func(l *loop) {
		l.source.Emit("x")
		after(10*lease + time.Second)
		if got := l.source.Reasons(); got != "ack" {
			l.t.Errorf("settled %q", got)
		}
	})
}

// A handler that ignores the end of its context costs a worker until it comes back, and its event nothing but the attempt.
// holds: engines
func TestAHandlerThatIgnoresItsEnd(t *testing.T) {
	var back chan struct{} // made in the bubble, or nobody waits durably
	h := leasedHandler("stays", func(context.Context, *nexus.Delivery) error {
		<-back
		return nil
	})
	h.Timeout = 10 * time.Second
	var others atomic.Int32
	looping(t, 2, []*handlers.Handler{h, leasedHandler("x", func(context.Context, *nexus.Delivery) error {
		others.Add(1)
		return nil
	})}, func(l *loop) {
		back = make(chan struct{})
		l.source.Emit("stays")
		after(14 * time.Second)
		if n, _ := l.Stuck(); n != 0 || l.source.Reasons() != "" {
			l.t.Fatalf("%d stuck and settled %q before its time", n, l.source.Reasons())
		}
		after(2 * time.Second)
		if got := l.source.Reasons(); !strings.HasPrefix(got, "retry timeout") {
			l.t.Errorf("settled %q", got)
		}
		after(time.Minute) // it was tried again, by the other worker
		n, all := l.Stuck()
		if n != 2 || all.IsZero() {
			l.t.Errorf("%d stuck, all since %s", n, all)
		}
		l.source.Emit("x")
		after(time.Minute)
		if others.Load() != 0 {
			l.t.Error("a stuck worker handled something")
		}
		close(back)
		after(time.Minute)
		if n, all := l.Stuck(); n != 0 || !all.IsZero() || others.Load() != 1 || l.source.Left() != 0 {
			l.t.Errorf("%d stuck, %d others handled, %d left, settled %q", n, others.Load(), l.source.Left(), l.source.Reasons())
		}
	})
}

func TestStopGivesBackWhatDoesNotEnd(t *testing.T) {
	var back chan struct{} // made in the bubble, or nobody waits durably
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(context.Context, *nexus.Delivery) error {
		<-back
		return nil
	})}, func(l *loop) {
		back = make(chan struct{})
		id := l.source.Emit("x")[0]
		after(time.Second)
		began := time.Now()
		stayed := l.stop(10 * time.Second)
		if took := time.Since(began); took < 10*time.Second || took > 12*time.Second {
			l.t.Errorf("stopped after %s", took)
		}
		if len(stayed) != 1 || stayed[0].MessageID != id || l.source.Reasons() != "release "+nexus.ErrDraining.Error() {
			l.t.Errorf("stayed %v, settled %q", stayed, l.source.Reasons())
		}
		close(back)
		synctest.Wait()
	})
}

func TestStopWaitsForHandlersThatEnd(t *testing.T) {
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(ctx context.Context, _ *nexus.Delivery) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Second):
			return nil
		}
	})}, func(l *loop) {
		l.source.Emit("x", "x")
		after(time.Second)
		if stayed := l.stop(10 * time.Second); len(stayed) != 0 || l.source.Left() != 1 {
			l.t.Errorf("stayed %v, left %d, settled %q", stayed, l.source.Left(), l.source.Reasons())
		}
	})
}

// However a call ends, the worker goes on.
func TestHandlersThatEndBadly(t *testing.T) {
	looping(t, 1, []*handlers.Handler{
		leasedHandler("panics", func(_ context.Context, d *nexus.Delivery) error {
			if d.Attempt == 1 {
				panic("boom")
			}
			return nil
		}),
		leasedHandler("ends", func(_ context.Context, d *nexus.Delivery) error {
			if d.Attempt == 1 {
				runtime.Goexit()
			}
			return nil
		}),
		leasedHandler("rejects", func(context.Context, *nexus.Delivery) error { return nexus.Reject("bad") }),
	}, func(l *loop) {
		l.source.Emit("panics", "ends", "rejects")
		after(time.Minute)
		got := l.source.Reasons()
		if strings.Count(got, "retry panic") != 2 || strings.Count(got, "reject bad") != 1 || strings.Count(got, "ack") != 2 || l.source.Left() != 0 {
			l.t.Errorf("settled %q, %d left", got, l.source.Left())
		}
	})
}

// A verdict that the database refuses holds up nothing else, and becomes a failure that says why.
// holds: engines
func TestARefusedVerdict(t *testing.T) {
	looping(t, 3, []*handlers.Handler{leasedHandler("*", func(_ context.Context, d *nexus.Delivery) error {
		if d.Type == "odd" && d.Attempt == 1 {
			return nexus.Retry(time.Hour)
		}
		return nil
	})}, func(l *loop) {
		l.source.Fault(func(_ context.Context, _ string, results []work.Result) error {
			for _, r := range results {
				if r.Exact {
					return &nexus.Error{Op: "settle", Code: nexus.CodeArgumentValue, Message: "too long"}
				}
			}
			return nil
		})
		l.source.Emit("x", "odd", "x")
		after(time.Minute)
		var refused []work.Result
		for _, r := range l.source.Settled() {
			if r.Action == work.Retry {
				refused = append(refused, r)
			}
		}
		if len(refused) != 1 || refused[0].Reason != work.ReasonError || !strings.HasPrefix(refused[0].Error, "the verdict was refused") || l.source.Left() != 0 {
			l.t.Errorf("refused %+v, %d left", refused, l.source.Left())
		}
	})
}

// A handler with few workers has no more at once, and starves nobody.
func TestAHandlerWithFewWorkers(t *testing.T) {
	var now, most, others atomic.Int32
	h := leasedHandler("few", func(context.Context, *nexus.Delivery) error {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-time.After(100 * time.Millisecond)
		return nil
	})
	h.Workers = 2
	looping(t, 10, []*handlers.Handler{h, leasedHandler("x", func(context.Context, *nexus.Delivery) error {
		others.Add(1)
		return nil
	})}, func(l *loop) {
		for range 50 {
			l.source.Emit("few", "x")
		}
		after(time.Second)
		if others.Load() != 50 {
			l.t.Errorf("%d of 50 others handled beside it", others.Load())
		}
		after(time.Minute)
		if most.Load() != 2 || l.source.Left() != 0 {
			l.t.Errorf("%d at once, %d left", most.Load(), l.source.Left())
		}
	})
}

// What processes have died of goes alone.
// holds: engines
func TestWhatMayKillAProcessGoesAlone(t *testing.T) {
	var now, most atomic.Int32
	looping(t, 5, []*handlers.Handler{leasedHandler("*", func(context.Context, *nexus.Delivery) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		<-time.After(time.Second)
		return nil
	})}, func(l *loop) {
		ids := l.source.Emit("x", "x", "x")
		// Another process takes them and is not heard of again.
		if found, err := l.source.Claim(l.t.Context(), nil, work.Want{Types: []string{"*"}, Limit: 3, Lease: time.Minute}); err != nil || len(found.Items) != len(ids) {
			l.t.Fatalf("%d taken: %v", len(found.Items), err)
		}
		after(2 * time.Minute)
		if most.Load() != 1 || l.source.Left() != 0 {
			l.t.Errorf("%d at once, %d left", most.Load(), l.source.Left())
		}
	})
}

// A loop that is to finish takes up nothing new and gives back what waits; it waits for its handlers, and for a database that is away.
//
// holds: N1-changes
func TestFinish(t *testing.T) {
	var release chan struct{} // made in the bubble
	var handled atomic.Int32
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(ctx context.Context, _ *nexus.Delivery) error {
		select {
		case <-release:
			handled.Add(1)
		case <-ctx.Done():
		}
		return context.Cause(ctx)
	})}, func(l *loop) {
		release = make(chan struct{})
		l.source.Emit("x")
		after(time.Second)
		var away, finished atomic.Bool
		ctx, end := context.WithCancel(l.t.Context())
		defer end()
		go func() { l.Finish(ctx); finished.Store(true) }()
		l.source.Emit("x", "x")
		after(time.Hour)
		if finished.Load() || l.source.Left() != 3 {
			l.t.Fatalf("finished %v, %d left, while the handler runs", finished.Load(), l.source.Left())
		}
		l.source.Fault(func(context.Context, string, []work.Result) error {
			if away.Load() {
				return &nexus.Error{Code: "08006"}
			}
			return nil
		})
		away.Store(true)
		close(release)
		after(time.Hour)
		if finished.Load() || handled.Load() != 1 || l.source.Left() != 3 {
			l.t.Fatalf("finished %v, handled %d, %d left, without the database", finished.Load(), handled.Load(), l.source.Left())
		}
		away.Store(false)
		after(time.Minute)
		if !finished.Load() || handled.Load() != 1 || l.source.Left() != 2 {
			l.t.Errorf("finished %v, handled %d, %d left", finished.Load(), handled.Load(), l.source.Left())
		}
	})
}

// It waits no longer than its context.
func TestFinishEndsWithItsContext(t *testing.T) {
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(ctx context.Context, _ *nexus.Delivery) error {
		<-ctx.Done()
		return nil
	})}, func(l *loop) {
		l.source.Emit("x")
		after(time.Second)
		ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		l.Finish(ctx)
		if took := time.Since(began); took != time.Minute || l.source.Left() != 1 {
			l.t.Errorf("ended after %s, %d left", took, l.source.Left())
		}
	})
}

// Once it has quit, no claim of it is under way any more.
//
// holds: N1-changes
func TestQuitWaitsForClaims(t *testing.T) {
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(context.Context, *nexus.Delivery) error { return nil })}, func(l *loop) {
		answer := make(chan struct{})
		l.source.Fault(func(context.Context, string, []work.Result) error { <-answer; return nil })
		after(2 * time.Second)
		var quit atomic.Bool
		go func() { l.Quit(l.t.Context()); quit.Store(true) }()
		after(10 * time.Second)
		if quit.Load() {
			l.t.Error("it has quit while a claim is under way")
		}
		close(answer)
		after(time.Second)
		l.source.Emit("x")
		after(time.Minute)
		if !quit.Load() || l.source.Left() != 1 {
			l.t.Errorf("quit %v, %d left", quit.Load(), l.source.Left())
		}
	})
}
