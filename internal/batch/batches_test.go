package batch_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/nexuspg/nexus/internal/sourcetest"
	"github.com/nexuspg/nexus/internal/work"
)

// Batches of a source in memory, with a clock that costs nothing: what takes seconds beside a database takes no time here.

const limit = 5 * time.Second // of express

type batches struct {
	*batch.Batches
	*sourcetest.Rig
}

// batching starts batches of one handler with these workers in a bubble of its own.
func batching(t *testing.T, workers int, h *handlers.Handler, test func(b *batches)) {
	t.Helper()
	t.Parallel()
	h.Name, h.Pattern = "h", "*"
	sourcetest.InBubble(t, workers, []*handlers.Handler{h}, func(r *sourcetest.Rig) {
		b := &batches{batch.New(r.Config, r.Source, limit), r}
		r.Run(b.Batches)
		test(b)
	})
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
					b.Source.Emit("x")
				}
				sourcetest.After(5 * time.Second)
				if n := c.deliveries.Load(); n != 500 || b.Source.Left() != 0 || b.Source.Marked() != 0 {
					b.T.Errorf("%d of 500 handled, %d left, %d marked", n, b.Source.Left(), b.Source.Marked())
				}
				if n := c.calls.Load(); n > 20 {
					b.T.Errorf("%d calls for 500 events", n)
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
				b.Source.Lasting.Store(true)
				b.Source.Emit("x", "bad", "x", "x")
				sourcetest.After(10 * time.Second)
				if n := b.Source.Left(); n != 0 || !strings.Contains(b.Source.Reasons(), "reject bad") {
					b.T.Errorf("%d left, settled: %s", n, b.Source.Reasons())
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
		b.Source.Fault(func(ctx context.Context, op string, _ []work.Result) error {
			if op == "claim" && hangs.CompareAndSwap(false, true) {
				<-ctx.Done()
				return fmt.Errorf("claim: %w", ctx.Err())
			}
			return nil
		})
		b.Source.Emit("x")
		sourcetest.After(29 * time.Second)
		if c.calls.Load() != 0 || b.Away.Load() != 0 {
			b.T.Fatalf("handled %d, told %d times", c.calls.Load(), b.Away.Load())
		}
		sourcetest.After(10 * time.Second)
		if c.calls.Load() != 1 || b.Away.Load() != 1 || b.Source.Left() != 0 {
			b.T.Errorf("handled %d times, told %d times, %d left", c.calls.Load(), b.Away.Load(), b.Source.Left())
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
		ids := b.Source.Emit("x", "x", "x")
		sourcetest.After(time.Second)
		stolen.Store(ids[1])
		b.Source.Steal(ids[1])
		began := time.Now()
		select {
		case cause := <-causes:
			if !errors.Is(cause, nexus.ErrLeaseLost) {
				b.T.Errorf("the handler ended since %v", cause)
			}
		case <-time.After(sourcetest.Lease):
			b.T.Error("nobody told the handler")
			return
		}
		if took := time.Since(began); took > sourcetest.Lease/3+time.Second {
			b.T.Errorf("told after %s", took)
		}
		sourcetest.After(time.Minute)
		if n := again.deliveries.Load(); n != 2 || b.Source.Left() != 1 {
			b.T.Errorf("%d of the others were handled again, %d left, settled %q", n, b.Source.Left(), b.Source.Reasons())
		}
		if got := strings.Count(b.Log.String(), "lease lost, the result was refused"); got != 1 {
			b.T.Errorf("%d refused; the log:\n%s", got, &b.Log)
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
		case <-time.After(10 * sourcetest.Lease):
			return nil
		}
	}}, func(b *batches) {
		b.Source.Emit("x", "x")
		sourcetest.After(10*sourcetest.Lease + time.Second)
		if got := b.Source.Reasons(); got != "ack, ack" {
			b.T.Errorf("settled %q", got)
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
		b.Source.Emit("x", "x")
		sourcetest.After(time.Minute)
		if got := b.Source.Reasons(); got != "ack, ack" || attempts.Load() != 1 || b.Source.Marked() != 0 {
			b.T.Errorf("settled %q at attempt %d, %d marked", got, attempts.Load(), b.Source.Marked())
		}
		if !strings.Contains(b.Log.String(), "takes longer than the express limit") {
			b.T.Errorf("the log:\n%s", &b.Log)
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
		ids := b.Source.Emit("x", "x", "x")
		// Another process takes them and is not heard of again.
		if got, err := b.Source.Lease(b.T.Context(), work.Want{Types: []string{"*"}, Limit: 3, Lease: time.Minute}); err != nil || len(got.Items) != len(ids) {
			b.T.Fatalf("%d taken: %v", len(got.Items), err)
		}
		sourcetest.After(2 * time.Minute)
		if most.Load() != 1 || b.Source.Left() != 0 || b.Source.Turns() == 0 {
			b.T.Errorf("%d at once, %d left, the turn was free %d times", most.Load(), b.Source.Left(), b.Source.Turns())
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
		b.Source.Emit("x", "x")
		sourcetest.After(time.Second)
		if stayed := b.End(10 * time.Second); len(stayed) != 0 || b.Source.Left() != 1 || b.Source.Marked() != 0 {
			b.T.Errorf("stayed %v, left %d, settled %q, marked %d", stayed, b.Source.Left(), b.Source.Reasons(), b.Source.Marked())
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
		b.Source.Emit("x", "stays", "x")
		sourcetest.After(14 * time.Second)
		if n, _ := b.Stuck(); n != 0 || b.Source.Reasons() != "" {
			b.T.Fatalf("%d stuck and settled %q before its time", n, b.Source.Reasons())
		}
		sourcetest.After(2 * time.Second)
		if got := b.Source.Reasons(); got != "ack" {
			b.T.Errorf("settled %q, want the one before it", got)
		}
		sourcetest.After(16 * time.Second)
		if got := b.Source.Reasons(); !strings.Contains(got, "retry timeout") {
			b.T.Errorf("settled %q", got)
		}
		n, all := b.Stuck()
		if n != 2 || all.IsZero() || s.most.Load() != 2 {
			b.T.Errorf("%d stuck, all since %s, %d at once", n, all, s.most.Load())
		}
		close(s.back)
		sourcetest.After(time.Minute)
		if n, all := b.Stuck(); n != 0 || !all.IsZero() || b.Source.Left() != 0 {
			b.T.Errorf("%d stuck, all since %s, %d left, settled %q", n, all, b.Source.Left(), b.Source.Reasons())
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
				b.Source.Emit("x", "stays")
				sourcetest.After(time.Minute)
				if n, all := b.Stuck(); n != 1 || all.IsZero() || s.most.Load() != 1 {
					b.T.Errorf("%d stuck, all since %s, %d at once", n, all, s.most.Load())
				}
				if got := b.Source.Reasons(); leased && got != "release no free worker, release no free worker" || !leased && got != "" {
					b.T.Errorf("settled %q", got)
				}
				close(s.back)
				sourcetest.After(time.Minute)
				if b.Source.Left() != 0 || s.most.Load() != 1 {
					b.T.Errorf("%d left, %d at once, settled %q", b.Source.Left(), s.most.Load(), b.Source.Reasons())
				}
			})
		})
	}
}

func TestStopGivesUpABatchThatDoesNotEnd(t *testing.T) {
	var s staying
	batching(t, 1, &handlers.Handler{Lease: true, Batch: s.handle}, func(b *batches) {
		s.back = make(chan struct{})
		b.Source.Emit("stays")
		sourcetest.After(time.Second)
		began := time.Now()
		stayed := b.End(10 * time.Second)
		if took := time.Since(began); took < 10*time.Second || took > 12*time.Second {
			b.T.Errorf("stopped after %s", took)
		}
		if len(stayed) != 1 || b.Source.Reasons() != "release "+nexus.ErrDraining.Error() {
			b.T.Errorf("stayed %v, settled %q", stayed, b.Source.Reasons())
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
		b.Source.Fault(func(_ context.Context, op string, _ []work.Result) error {
			if op == "begin" {
				<-time.After(10*time.Second + engine.ExitMargin + engine.ExitMargin/2)
			}
			return nil
		})
		b.Source.Emit("x")
		sourcetest.After(time.Millisecond)
		stopped := make(chan struct{})
		go func() { b.End(10 * time.Second); close(stopped) }()
		sourcetest.After(time.Minute)
		select {
		case <-stopped:
		default:
			b.T.Error("it does not end")
		}
		if n := calls.Load(); n != 0 || b.Source.Reasons() != "release "+nexus.ErrDraining.Error() {
			b.T.Errorf("%d calls, settled %q", n, b.Source.Reasons())
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
				b.Source.Emit("x", "x")
				sourcetest.After(time.Second)
				ctx, cancel := context.WithTimeout(b.T.Context(), grace)
				defer cancel()
				began := time.Now()
				b.Finish(ctx)
				left, took := b.Source.Left(), time.Since(began)
				if grace == time.Hour && (left != 1 || took < 9*time.Minute || took > 10*time.Minute) || grace == time.Minute && (left != 2 || took != time.Minute) {
					b.T.Errorf("finished after %s, %d left", took, left)
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
		b.Source.Fault(func(context.Context, string, []work.Result) error { <-answer; return nil })
		sourcetest.After(2 * time.Second)
		var quit atomic.Bool
		go func() { b.Quit(b.T.Context()); quit.Store(true) }()
		sourcetest.After(10 * time.Second)
		if quit.Load() {
			b.T.Error("they have quit while a claim is under way")
		}
		close(answer)
		sourcetest.After(time.Second)
		b.Source.Emit("x")
		sourcetest.After(time.Minute)
		if !quit.Load() || b.Source.Left() != 1 {
			b.T.Errorf("quit %v, %d left", quit.Load(), b.Source.Left())
		}
	})
}
