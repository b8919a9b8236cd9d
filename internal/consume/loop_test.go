package consume_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/consume"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/sourcetest"
	"github.com/nexuspg/nexus/internal/work"
)

// A loop on a source in memory, with a clock that costs nothing: what takes seconds beside a database takes no time here.

type loop struct {
	*consume.Loop
	*sourcetest.Rig
}

// looping starts a loop with these workers in a bubble of its own.
func looping(t *testing.T, workers int, list []*handlers.Handler, test func(l *loop)) {
	t.Helper()
	t.Parallel()
	sourcetest.InBubble(t, workers, list, func(r *sourcetest.Rig) {
		l := &loop{consume.NewLoop(r.Config, r.Source), r}
		r.Run(l.Loop)
		test(l)
	})
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
			l.Source.Emit("x")
		}
		sourcetest.After(5 * time.Second)
		if n := handled.Load(); n != 500 || l.Source.Left() != 0 {
			l.T.Errorf("%d of 500 handled, %d left", n, l.Source.Left())
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
		l.Source.Fault(func(ctx context.Context, _ string, results []work.Result) error {
			if len(results) > 0 && hangs.CompareAndSwap(false, true) {
				<-ctx.Done()
				return fmt.Errorf("settle: %w", ctx.Err())
			}
			return nil
		})
		l.Source.Emit("x")
		sourcetest.After(29 * time.Second)
		if handled.Load() != 1 || l.Source.Left() != 1 || l.Away.Load() != 0 {
			l.T.Fatalf("handled %d, left %d, told %d times", handled.Load(), l.Source.Left(), l.Away.Load())
		}
		sourcetest.After(2 * time.Second)
		if l.Away.Load() != 1 {
			l.T.Errorf("told %d times that the server is away", l.Away.Load())
		}
		if handled.Load() != 1 || l.Source.Left() != 0 {
			l.T.Errorf("handled %d times, %d left: the result was not kept", handled.Load(), l.Source.Left())
		}
	})
}

// A handler whose lease is lost is told soon, and its result is refused.
// holds: lease-keeper, others-lease
func TestALeaseThatIsLostWhileItsHandlerRuns(t *testing.T) {
	var causes chan error // made in the bubble, or nobody waits durably
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(ctx context.Context, _ *nexus.Delivery) error {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil // it got done after all
	})}, func(l *loop) {
		causes = make(chan error, 1)
		id := l.Source.Emit("x")[0]
		sourcetest.After(time.Second)
		l.Source.Steal(id)
		began := time.Now()
		if cause := <-causes; !errors.Is(cause, nexus.ErrLeaseLost) {
			l.T.Errorf("the handler ended since %v", cause)
		}
		if took := time.Since(began); took > sourcetest.Lease/3+time.Second {
			l.T.Errorf("told after %s", took)
		}
		sourcetest.After(time.Second)
		if got := l.Source.Reasons(); got != "" || !strings.Contains(l.Log.String(), "the result was refused") {
			l.T.Errorf("settled %q; the log:\n%s", got, &l.Log)
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
		l.Source.Fault(func(_ context.Context, op string, _ []work.Result) error {
			if op == "extend" {
				return errors.New("no")
			}
			return nil
		})
		l.Source.Emit("x")
		began := time.Now()
		cause := <-ended
		if took := time.Since(began); !errors.Is(cause, nexus.ErrLeaseLost) || took >= sourcetest.Lease || took < sourcetest.Lease/2 {
			l.T.Errorf("ended after %s since %v, with a lease of %s", took, cause, sourcetest.Lease)
		}
		if n := strings.Count(l.Log.String(), "cannot renew leases"); n != 1 {
			l.T.Errorf("%d lines about it", n)
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
		case <-time.After(10 * sourcetest.Lease):
			return nil
		}
	})}, func(l *loop) {
		l.Source.Emit("x")
		sourcetest.After(10*sourcetest.Lease + time.Second)
		if got := l.Source.Reasons(); got != "ack" {
			l.T.Errorf("settled %q", got)
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
		l.Source.Emit("stays")
		sourcetest.After(14 * time.Second)
		if n, _ := l.Stuck(); n != 0 || l.Source.Reasons() != "" {
			l.T.Fatalf("%d stuck and settled %q before its time", n, l.Source.Reasons())
		}
		sourcetest.After(2 * time.Second)
		if got := l.Source.Reasons(); !strings.HasPrefix(got, "retry timeout") {
			l.T.Errorf("settled %q", got)
		}
		sourcetest.After(time.Minute) // it was tried again, by the other worker
		n, all := l.Stuck()
		if n != 2 || all.IsZero() {
			l.T.Errorf("%d stuck, all since %s", n, all)
		}
		l.Source.Emit("x")
		sourcetest.After(time.Minute)
		if others.Load() != 0 {
			l.T.Error("a stuck worker handled something")
		}
		close(back)
		sourcetest.After(time.Minute)
		if n, all := l.Stuck(); n != 0 || !all.IsZero() || others.Load() != 1 || l.Source.Left() != 0 {
			l.T.Errorf("%d stuck, %d others handled, %d left, settled %q", n, others.Load(), l.Source.Left(), l.Source.Reasons())
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
		id := l.Source.Emit("x")[0]
		sourcetest.After(time.Second)
		began := time.Now()
		stayed := l.End(10 * time.Second)
		if took := time.Since(began); took < 10*time.Second || took > 12*time.Second {
			l.T.Errorf("stopped after %s", took)
		}
		if len(stayed) != 1 || stayed[0].MessageID != id || l.Source.Reasons() != "release "+nexus.ErrDraining.Error() {
			l.T.Errorf("stayed %v, settled %q", stayed, l.Source.Reasons())
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
		l.Source.Emit("x", "x")
		sourcetest.After(time.Second)
		if stayed := l.End(10 * time.Second); len(stayed) != 0 || l.Source.Left() != 1 {
			l.T.Errorf("stayed %v, left %d, settled %q", stayed, l.Source.Left(), l.Source.Reasons())
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
		l.Source.Emit("panics", "ends", "rejects")
		sourcetest.After(time.Minute)
		got := l.Source.Reasons()
		if strings.Count(got, "retry panic") != 2 || strings.Count(got, "reject bad") != 1 || strings.Count(got, "ack") != 2 || l.Source.Left() != 0 {
			l.T.Errorf("settled %q, %d left", got, l.Source.Left())
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
		l.Source.Fault(func(_ context.Context, _ string, results []work.Result) error {
			for _, r := range results {
				if r.Exact {
					return &nexus.Error{Op: "settle", Code: nexus.CodeArgumentValue, Message: "too long"}
				}
			}
			return nil
		})
		l.Source.Emit("x", "odd", "x")
		sourcetest.After(time.Minute)
		var refused []work.Result
		for _, r := range l.Source.Settled() {
			if r.Action == work.Retry {
				refused = append(refused, r)
			}
		}
		if len(refused) != 1 || refused[0].Reason != work.ReasonError || !strings.HasPrefix(refused[0].Error, "the verdict was refused") || l.Source.Left() != 0 {
			l.T.Errorf("refused %+v, %d left", refused, l.Source.Left())
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
			l.Source.Emit("few", "x")
		}
		sourcetest.After(time.Second)
		if others.Load() != 50 {
			l.T.Errorf("%d of 50 others handled beside it", others.Load())
		}
		sourcetest.After(time.Minute)
		if most.Load() != 2 || l.Source.Left() != 0 {
			l.T.Errorf("%d at once, %d left", most.Load(), l.Source.Left())
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
		ids := l.Source.Emit("x", "x", "x")
		// Another process takes them and is not heard of again.
		if found, err := l.Source.Claim(l.T.Context(), nil, work.Want{Types: []string{"*"}, Limit: 3, Lease: time.Minute}); err != nil || len(found.Items) != len(ids) {
			l.T.Fatalf("%d taken: %v", len(found.Items), err)
		}
		sourcetest.After(2 * time.Minute)
		if most.Load() != 1 || l.Source.Left() != 0 {
			l.T.Errorf("%d at once, %d left", most.Load(), l.Source.Left())
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
		l.Source.Emit("x")
		sourcetest.After(time.Second)
		var away, finished atomic.Bool
		ctx, end := context.WithCancel(l.T.Context())
		defer end()
		go func() { l.Finish(ctx); finished.Store(true) }()
		l.Source.Emit("x", "x")
		sourcetest.After(time.Hour)
		if finished.Load() || l.Source.Left() != 3 {
			l.T.Fatalf("finished %v, %d left, while the handler runs", finished.Load(), l.Source.Left())
		}
		l.Source.Fault(func(context.Context, string, []work.Result) error {
			if away.Load() {
				return &nexus.Error{Code: "08006"}
			}
			return nil
		})
		away.Store(true)
		close(release)
		sourcetest.After(time.Hour)
		if finished.Load() || handled.Load() != 1 || l.Source.Left() != 3 {
			l.T.Fatalf("finished %v, handled %d, %d left, without the database", finished.Load(), handled.Load(), l.Source.Left())
		}
		away.Store(false)
		sourcetest.After(time.Minute)
		if !finished.Load() || handled.Load() != 1 || l.Source.Left() != 2 {
			l.T.Errorf("finished %v, handled %d, %d left", finished.Load(), handled.Load(), l.Source.Left())
		}
	})
}

// It waits no longer than its context.
func TestFinishEndsWithItsContext(t *testing.T) {
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(ctx context.Context, _ *nexus.Delivery) error {
		<-ctx.Done()
		return nil
	})}, func(l *loop) {
		l.Source.Emit("x")
		sourcetest.After(time.Second)
		ctx, cancel := context.WithTimeout(l.T.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		l.Finish(ctx)
		if took := time.Since(began); took != time.Minute || l.Source.Left() != 1 {
			l.T.Errorf("ended after %s, %d left", took, l.Source.Left())
		}
	})
}

// Once it has quit, no claim of it is under way any more.
//
// holds: N1-changes
func TestQuitWaitsForClaims(t *testing.T) {
	looping(t, 1, []*handlers.Handler{leasedHandler("*", func(context.Context, *nexus.Delivery) error { return nil })}, func(l *loop) {
		answer := make(chan struct{})
		l.Source.Fault(func(context.Context, string, []work.Result) error { <-answer; return nil })
		sourcetest.After(2 * time.Second)
		var quit atomic.Bool
		go func() { l.Quit(l.T.Context()); quit.Store(true) }()
		sourcetest.After(10 * time.Second)
		if quit.Load() {
			l.T.Error("it has quit while a claim is under way")
		}
		close(answer)
		sourcetest.After(time.Second)
		l.Source.Emit("x")
		sourcetest.After(time.Minute)
		if !quit.Load() || l.Source.Left() != 1 {
			l.T.Errorf("quit %v, %d left", quit.Load(), l.Source.Left())
		}
	})
}
