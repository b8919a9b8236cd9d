package batch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/batch"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/places"
	"github.com/nexuspg/nexus/internal/sourcetest"
	"github.com/nexuspg/nexus/internal/work"
)

// Batches of a source in memory, with a clock that costs nothing: what takes seconds beside a database takes no time here.

const (
	lease = 30 * time.Second
	limit = 5 * time.Second // of express
)

type batches struct {
	*batch.Batches
	t      *testing.T
	source *sourcetest.Memory
	places *places.Places
	log    strings.Builder
	away   atomic.Int32 // how often a failure looked like a server that is away
	ended  bool
}

// batching starts batches of one handler with these workers in a bubble of its own.
func batching(t *testing.T, workers int, h *handlers.Handler, test func(b *batches)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h.Name, h.Pattern = "h", "*"
		hs, err := handlers.New([]*handlers.Handler{h}, nexus.RetryPolicy{})
		if err != nil {
			t.Fatal(err)
		}
		b := &batches{t: t, source: &sourcetest.Memory{}, places: places.New(workers)}
		b.Batches = batch.New(engine.Config{
			Handlers: hs, Places: b.places, Lease: lease, Poll: time.Second, Values: context.WithoutCancel(t.Context()),
			Log:         slog.New(slog.NewTextHandler(&b.log, nil)),
			Announce:    func(context.Context, time.Duration) error { return nil },
			Unavailable: func(error) { b.away.Add(1) },
		}, b.source, limit)
		b.Start()
		defer func() {
			if !b.ended {
				b.stop(0)
			}
		}()
		test(b)
	})
}

// stop gives handlers so long.
func (b *batches) stop(grace time.Duration) []*nexus.Delivery {
	b.ended = true
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return b.Stop(ctx)
}

// after lets time pass, and everything that is to happen meanwhile.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// counter counts deliveries and calls.
type counter struct{ deliveries, calls atomic.Int32 }

func (c *counter) handle(_ context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
	c.deliveries.Add(int32(len(batch)))
	c.calls.Add(1)
	return nil
}

func TestBatchesAreHandledAndCommitted(t *testing.T) {
	t.Parallel()
	for name, leased := range map[string]bool{"express": false, "under leases": true} {
		t.Run(name, func(t *testing.T) {
			var c counter
			batching(t, 4, &handlers.Handler{Batch: c.handle, Lease: leased}, func(b *batches) {
				for range 500 {
					b.source.Emit("x")
				}
				after(5 * time.Second)
				if n := c.deliveries.Load(); n != 500 || b.source.Left() != 0 || b.source.Marked() != 0 {
					b.t.Errorf("%d of 500 handled, %d left, %d marked", n, b.source.Left(), b.source.Marked())
				}
				if n := c.calls.Load(); n > 20 {
					b.t.Errorf("%d calls for 500 events", n)
				}
			})
		})
	}
}

// Where a call that failed has left something in its session nothing more may run in that transaction, so the bad one is not found there.
// The batch fails as a whole then: those who took it again as it was would come no further.
// holds: session
func TestABatchThatFailsInASessionItChanged(t *testing.T) {
	t.Parallel()
	for name, leased := range map[string]bool{"express": false, "under leases": true} {
		t.Run(name, func(t *testing.T) {
			handle := func(_ context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
				if slices.ContainsFunc(batch, func(d *nexus.Delivery) bool { return d.Type == "bad" }) {
					return nexus.Reject("bad")
				}
				return nil
			}
			batching(t, 1, &handlers.Handler{Batch: handle, Lease: leased}, func(b *batches) {
				b.source.Lasting.Store(true)
				b.source.Emit("x", "bad", "x", "x")
				after(10 * time.Second)
				if n := b.source.Left(); n != 0 || !strings.Contains(b.source.Reasons(), "reject bad") {
					b.t.Errorf("%d left, settled: %s", n, b.source.Reasons())
				}
			})
		})
	}
}

// A server that hangs is left after half a minute and told of.
// holds: engines
func TestAClaimOfABatchThatTimesOut(t *testing.T) {
	var c counter
	batching(t, 1, &handlers.Handler{Batch: c.handle, Lease: true}, func(b *batches) {
		var hangs atomic.Bool
		b.source.Fault(func(ctx context.Context, op string, _ []work.Result) error {
			if op == "claim" && hangs.CompareAndSwap(false, true) {
				<-ctx.Done()
				return fmt.Errorf("claim: %w", ctx.Err())
			}
			return nil
		})
		b.source.Emit("x")
		after(29 * time.Second)
		if c.calls.Load() != 0 || b.away.Load() != 0 {
			b.t.Fatalf("handled %d, told %d times", c.calls.Load(), b.away.Load())
		}
		after(10 * time.Second)
		if c.calls.Load() != 1 || b.away.Load() != 1 || b.source.Left() != 0 {
			b.t.Errorf("handled %d times, told %d times, %d left", c.calls.Load(), b.away.Load(), b.source.Left())
		}
	})
}

// A batch one of whose leases is lost is told soon. What is still its own runs again; what is not is refused.
// holds: lease-keeper
func TestALeaseThatIsLostWhileItsBatchRuns(t *testing.T) {
	var causes chan error // made in the bubble, or nobody waits durably
	var stolen atomic.Int64
	var again counter
	batching(t, 1, &handlers.Handler{Lease: true, Batch: func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
		if len(batch) < 3 {
			return again.handle(ctx, tx, batch)
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return ctx.Err()
	}}, func(b *batches) {
		causes = make(chan error, 1)
		ids := b.source.Emit("x", "x", "x")
		after(time.Second)
		stolen.Store(ids[1])
		b.source.Steal(ids[1])
		began := time.Now()
		select {
		case cause := <-causes:
			if !errors.Is(cause, nexus.ErrLeaseLost) {
				b.t.Errorf("the handler ended since %v", cause)
			}
		case <-time.After(lease):
			b.t.Error("nobody told the handler")
			return
		}
		if took := time.Since(began); took > lease/3+time.Second {
			b.t.Errorf("told after %s", took)
		}
		after(time.Minute)
		if n := again.deliveries.Load(); n != 2 || b.source.Left() != 1 {
			b.t.Errorf("%d of the others were handled again, %d left, settled %q", n, b.source.Left(), b.source.Reasons())
		}
		if got := strings.Count(b.log.String(), "lease lost, the result was refused"); got != 1 {
			b.t.Errorf("%d refused; the log:\n%s", got, &b.log)
		}
	})
}

// The leases of a batch are renewed for as long as its handlers run.
// holds: lease-keeper
func TestLeasesLastAsLongAsTheirBatch(t *testing.T) {
	batching(t, 1, &handlers.Handler{Lease: true, Batch: func(ctx context.Context, _ pgx.Tx, _ []*nexus.Delivery) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * lease):
			return nil
		}
	}}, func(b *batches) {
		b.source.Emit("x", "x")
		after(10*lease + time.Second)
		if got := b.source.Reasons(); got != "ack, ack" {
			b.t.Errorf("settled %q", got)
		}
	})
}

// What takes longer than express may is rolled back, uses no attempt, and runs again under leases.
// holds: engines
func TestABatchThatTakesTooLongForExpress(t *testing.T) {
	var attempts atomic.Int32
	batching(t, 1, &handlers.Handler{Batch: func(ctx context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
		attempts.Store(int32(batch[0].Attempt))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(2 * limit):
			return nil
		}
	}}, func(b *batches) {
		b.source.Emit("x", "x")
		after(time.Minute)
		if got := b.source.Reasons(); got != "ack, ack" || attempts.Load() != 1 || b.source.Marked() != 0 {
			b.t.Errorf("settled %q at attempt %d, %d marked", got, attempts.Load(), b.source.Marked())
		}
		if !strings.Contains(b.log.String(), "takes longer than the express limit") {
			b.t.Errorf("the log:\n%s", &b.log)
		}
	})
}

// What processes have died of goes alone, and is looked for again when the turn is free.
// holds: alone-left
func TestABatchOfSuspectsGoesAlone(t *testing.T) {
	var most atomic.Int32
	batching(t, 2, &handlers.Handler{Lease: true, Batch: func(_ context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
		if n := int32(len(batch)); n > most.Load() {
			most.Store(n)
		}
		return nil
	}}, func(b *batches) {
		ids := b.source.Emit("x", "x", "x")
		// Another process takes them and is not heard of again.
		if got, err := b.source.Lease(b.t.Context(), work.Want{Types: []string{"*"}, Limit: 3, Lease: time.Minute}); err != nil || len(got.Items) != len(ids) {
			b.t.Fatalf("%d taken: %v", len(got.Items), err)
		}
		after(2 * time.Minute)
		if most.Load() != 1 || b.source.Left() != 0 || b.source.Turns() == 0 {
			b.t.Errorf("%d at once, %d left, the turn was free %d times", most.Load(), b.source.Left(), b.source.Turns())
		}
	})
}

func TestStopWaitsForBatches(t *testing.T) {
	batching(t, 1, &handlers.Handler{Size: 1, Batch: func(ctx context.Context, _ pgx.Tx, _ []*nexus.Delivery) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(limit - time.Second):
			return nil
		}
	}}, func(b *batches) {
		b.source.Emit("x", "x")
		after(time.Second)
		if stayed := b.stop(10 * time.Second); len(stayed) != 0 || b.source.Left() != 1 || b.source.Marked() != 0 {
			b.t.Errorf("stayed %v, left %d, settled %q, marked %d", stayed, b.source.Left(), b.source.Reasons(), b.source.Marked())
		}
	})
}

// staying is a handler that ignores the end of its context where one of its deliveries says so, and counts calls.
type staying struct {
	back      chan struct{} // made in the bubble, or nobody waits durably
	now, most atomic.Int32
}

func (s *staying) handle(_ context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
	n := s.now.Add(1)
	defer s.now.Add(-1)
	for m := s.most.Load(); n > m && !s.most.CompareAndSwap(m, n); m = s.most.Load() {
	}
	for _, d := range batch {
		if d.Type == "stays" {
			<-s.back
		}
	}
	return nil
}

// Handlers of a batch that ignore the end of their context keep their place. Its events run again one by one in another place, which shows whose
// they are.
//
// holds: workers
func TestABatchThatIgnoresItsEnd(t *testing.T) {
	var s staying
	batching(t, 2, &handlers.Handler{Lease: true, Timeout: 10 * time.Second, Batch: s.handle}, func(b *batches) {
		s.back = make(chan struct{})
		b.source.Emit("x", "stays", "x")
		after(14 * time.Second)
		if n, _ := b.Stuck(); n != 0 || b.source.Reasons() != "" {
			b.t.Fatalf("%d stuck and settled %q before its time", n, b.source.Reasons())
		}
		after(2 * time.Second)
		if got := b.source.Reasons(); got != "ack" {
			b.t.Errorf("settled %q, want the one before it", got)
		}
		after(16 * time.Second)
		if got := b.source.Reasons(); !strings.Contains(got, "retry timeout") {
			b.t.Errorf("settled %q", got)
		}
		n, all := b.Stuck()
		if n != 2 || all.IsZero() || s.most.Load() != 2 {
			b.t.Errorf("%d stuck, all since %s, %d at once", n, all, s.most.Load())
		}
		close(s.back)
		after(time.Minute)
		if n, all := b.Stuck(); n != 0 || !all.IsZero() || b.source.Left() != 0 {
			b.t.Errorf("%d stuck, all since %s, %d left, settled %q", n, all, b.source.Left(), b.source.Reasons())
		}
	})
}

// Where there is no other place its events are given back, so that another node may do better.
//
// holds: workers
func TestAStuckBatchHasNoSecondPlace(t *testing.T) {
	t.Parallel()
	for name, leased := range map[string]bool{"express": false, "under leases": true} {
		t.Run(name, func(t *testing.T) {
			var s staying
			batching(t, 1, &handlers.Handler{Lease: leased, Timeout: 2 * time.Second, Batch: s.handle}, func(b *batches) {
				s.back = make(chan struct{})
				b.source.Emit("x", "stays")
				after(time.Minute)
				if n, all := b.Stuck(); n != 1 || all.IsZero() || s.most.Load() != 1 {
					b.t.Errorf("%d stuck, all since %s, %d at once", n, all, s.most.Load())
				}
				if got := b.source.Reasons(); leased && got != "release no free worker, release no free worker" || !leased && got != "" {
					b.t.Errorf("settled %q", got)
				}
				close(s.back)
				after(time.Minute)
				if b.source.Left() != 0 || s.most.Load() != 1 {
					b.t.Errorf("%d left, %d at once, settled %q", b.source.Left(), s.most.Load(), b.source.Reasons())
				}
			})
		})
	}
}

func TestStopGivesUpABatchThatDoesNotEnd(t *testing.T) {
	var s staying
	batching(t, 1, &handlers.Handler{Lease: true, Batch: s.handle}, func(b *batches) {
		s.back = make(chan struct{})
		b.source.Emit("stays")
		after(time.Second)
		began := time.Now()
		stayed := b.stop(10 * time.Second)
		if took := time.Since(began); took < 10*time.Second || took > 12*time.Second {
			b.t.Errorf("stopped after %s", took)
		}
		if len(stayed) != 1 || b.source.Reasons() != "release "+nexus.ErrDraining.Error() {
			b.t.Errorf("stayed %v, settled %q", stayed, b.source.Reasons())
		}
		close(s.back)
		synctest.Wait()
	})
}

// A batch whose transaction is long in coming begins nothing any more once the others were given up: a handler that ignores its end would hold up
// the exit for ever.
//
// holds: N4
func TestNothingBeginsAfterTheGraceOfBatches(t *testing.T) {
	var calls atomic.Int32
	var back chan struct{} // made in the bubble, or nobody waits durably
	batching(t, 1, &handlers.Handler{Lease: true, Batch: func(context.Context, pgx.Tx, []*nexus.Delivery) error {
		calls.Add(1)
		<-back
		return nil
	}}, func(b *batches) {
		back = make(chan struct{})
		b.source.Fault(func(_ context.Context, op string, _ []work.Result) error {
			if op == "begin" {
				<-time.After(10*time.Second + engine.ExitMargin + engine.ExitMargin/2)
			}
			return nil
		})
		b.source.Emit("x")
		after(time.Millisecond)
		stopped := make(chan struct{})
		go func() { b.stop(10 * time.Second); close(stopped) }()
		after(time.Minute)
		select {
		case <-stopped:
		default:
			b.t.Error("it does not end")
		}
		if n := calls.Load(); n != 0 || b.source.Reasons() != "release "+nexus.ErrDraining.Error() {
			b.t.Errorf("%d calls, settled %q", n, b.source.Reasons())
		}
		close(back)
		<-stopped
	})
}

// Batches that are to finish take up nothing new, and wait for what they have in hand as long as it lasts, or until they may no longer.
//
// holds: N1-changes
func TestFinishWaitsForBatches(t *testing.T) {
	t.Parallel()
	for name, grace := range map[string]time.Duration{"as long as it lasts": time.Hour, "no longer": time.Minute} {
		t.Run(name, func(t *testing.T) {
			batching(t, 1, &handlers.Handler{Size: 1, Lease: true, Batch: func(ctx context.Context, _ pgx.Tx, _ []*nexus.Delivery) error {
				select {
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-time.After(10 * time.Minute):
					return nil
				}
			}}, func(b *batches) {
				b.source.Emit("x", "x")
				after(time.Second)
				ctx, cancel := context.WithTimeout(b.t.Context(), grace)
				defer cancel()
				began := time.Now()
				b.Finish(ctx)
				left, took := b.source.Left(), time.Since(began)
				if grace == time.Hour && (left != 1 || took < 9*time.Minute || took > 10*time.Minute) || grace == time.Minute && (left != 2 || took != time.Minute) {
					b.t.Errorf("finished after %s, %d left", took, left)
				}
			})
		})
	}
}

// Once they have quit, no claim of theirs is under way any more.
//
// holds: N1-changes
func TestQuitWaitsForClaims(t *testing.T) {
	var c counter
	batching(t, 1, &handlers.Handler{Batch: c.handle, Lease: true}, func(b *batches) {
		answer := make(chan struct{})
		b.source.Fault(func(context.Context, string, []work.Result) error { <-answer; return nil })
		after(2 * time.Second)
		var quit atomic.Bool
		go func() { b.Quit(b.t.Context()); quit.Store(true) }()
		after(10 * time.Second)
		if quit.Load() {
			b.t.Error("they have quit while a claim is under way")
		}
		close(answer)
		after(time.Second)
		b.source.Emit("x")
		after(time.Minute)
		if !quit.Load() || b.source.Left() != 1 {
			b.t.Errorf("quit %v, %d left", quit.Load(), b.source.Left())
		}
	})
}
