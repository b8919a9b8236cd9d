package node_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
)

// After Grace contexts end with the cause ErrDraining: work that is done counts, everything else is given back.
// holds: others-finished
func TestAfterGraceHandlersAreCancelled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		returns error
		settled bool
	}{
		"nil counts":          {nil, true},
		"error is a release":  {errors.New("interrupted"), false},
		"reject is a release": {nexus.Reject("interrupted"), false},
		"retry is a release":  {nexus.Retry(time.Hour), false},
	} {
		for _, leased := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, leased %v", name, leased), func(t *testing.T) {
				t.Parallel()
				db := newDB(t)
				n := node.New(db.Pool, node.Config{Namespace: ns, Grace: 20 * time.Millisecond})
				running, cause := make(chan struct{}), make(chan error, 1)
				wait := func(ctx context.Context) error {
					close(running)
					<-ctx.Done()
					cause <- context.Cause(ctx)
					return c.returns
				}
				if leased {
					n.OnLeased("x", func(ctx context.Context, _ *nexus.Delivery) error { return wait(ctx) })
				} else {
					n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
						if err := effect(ctx, tx, d, ""); err != nil {
							return err
						}
						return wait(ctx)
					})
				}
				stop := start(t, n)
				emit(t, db, "x", nil)
				<-running
				stop()
				if err := <-cause; !errors.Is(err, nexus.ErrDraining) {
					t.Errorf("cause %v, want ErrDraining", err)
				}
				if got := dbtest.Get[bool](db, queueEmpty); got != c.settled {
					t.Errorf("settled %v, want %v", got, c.settled)
				}
				if !c.settled && !dbtest.Get[bool](db, `select vt <= core.now() and (headers ->> 'nexus-deferrals')::int > 0 from pgmq.q_core_events_shop`) {
					t.Error("the event is not free for others at once, with its attempt given back")
				}
				if n := dbtest.Get[int](db, `select (select count(*) from core.delivery_errors)::int + (select count(*) from core.dead_letters)::int`); n != 0 {
					t.Errorf("%d failures recorded", n)
				}
				want := 0
				if c.settled && !leased {
					want = 1
				}
				if n := dbtest.Get[int](db, `select count(*)::int from public.effect`); n != want {
					t.Errorf("%d effects, want %d", n, want)
				}
			})
		}
	}
}

func TestDrainBeforeRun(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	for range 2 {
		if err := n.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Run(t.Context()); err != nil {
		t.Errorf("Run of a drained node: %v", err)
	}
	if err := n.Run(t.Context()); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("second Run: %v, want ErrInvalid", err)
	}
}

func TestDrainFromElsewhere(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Grace: time.Hour})
	running, goOn := make(chan struct{}), make(chan struct{})
	n.OnLeased("x", func(ctx context.Context, _ *nexus.Delivery) error {
		close(running)
		<-ctx.Done()
		<-goOn // so that the end of Drain's context comes before that of Run
		return ctx.Err()
	})
	if err := n.Health(); !errors.Is(err, node.ErrNotRunning) {
		t.Errorf("Health before Run: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- n.Run(context.Background()) }()
	emit(t, db, "x", nil)
	<-running
	if err := n.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
	// The end of this context takes the place of Grace.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := n.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Drain whose context ended: %v", err)
	}
	close(goOn)
	if err := n.Drain(t.Context()); err != nil {
		t.Errorf("Drain that waited: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := n.Health(); !errors.Is(err, node.ErrNotRunning) {
		t.Errorf("Health after Run: %v", err)
	}
	if got := dbtest.Get[string](db, `select state from core.nodes`); got != "stopped" {
		t.Errorf("state %s", got)
	}
}

func TestNothingIsLeftClaimed(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	emitMany(t, db, 5000)
	stop := start(t, n)
	db.Wait(`select count(*) < 4000 from pgmq.q_core_events_shop`)
	stop()
	if n := dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop where vt > core.now()`); n != 0 {
		t.Errorf("%d events are still leased by a node that is gone", n)
	}
}

func TestWorkSettlesWhateverTheHandlerDoes(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	n.OnLeased("fails", func(context.Context, *nexus.Delivery) error { return errors.New("boom") })
	n.OnLeased("panics", func(context.Context, *nexus.Delivery) error { panic("boom") })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n.OnLeased("waits", func(ctx context.Context, _ *nexus.Delivery) error { cancel(); <-ctx.Done(); return ctx.Err() })
	emit(t, db, "fails", nil)
	emit(t, db, "panics", nil)
	if got, err := n.Work(t.Context(), 10); got != 2 || err != nil {
		t.Errorf("Work = %d, %v", got, err)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 2 {
		t.Errorf("%d dead letters when Work has returned, want 2", n)
	}
	emit(t, db, "waits", nil)
	emit(t, db, "fails", nil)
	if got, err := n.Work(ctx, 10); got != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("Work = %d, %v; want 1 and its context's end", got, err)
	}
	if !dbtest.Get[bool](db, `select bool_and(vt <= core.now()) and count(*) = 2 from pgmq.q_core_events_shop`) {
		t.Error("what Work did not finish is not free for others")
	}
}

func TestWorkFindsWhatIsDueByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.SetNow(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{Base: time.Hour, Max: time.Hour, Jitter: -1}})
	n.OnLeased("x", func(_ context.Context, d *nexus.Delivery) error {
		if d.Attempt == 1 {
			return errors.New("boom")
		}
		return nil
	})
	emit(t, db, "x", nil)
	for _, want := range []int{1, 0, 1, 0} {
		if got, err := n.Work(t.Context(), 10); got != want || err != nil {
			t.Fatalf("Work = %d, %v; want %d", got, err, want)
		}
		if want == 0 {
			db.Advance(time.Hour)
		}
	}
}

// Not parallel, so that what runs beside it is known: nothing.
func TestNothingOfANodeIsLeftInTheProcess(t *testing.T) {
	db := newDB(t)
	if _, err := db.Pool.Exec(t.Context(), "select 1"); err != nil {
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	n := node.New(db.Pool, node.Config{Namespace: ns, Grace: -1})
	running, forever := make(chan struct{}), make(chan struct{})
	n.OnLeased("stays", func(context.Context, *nexus.Delivery) error { close(running); <-forever; return nil })
	n.OnLeased("exits", func(context.Context, *nexus.Delivery) error { runtime.Goexit(); return nil })
	stop := start(t, n)
	emit(t, db, "exits", nil)
	emit(t, db, "stays", nil)
	<-running
	stop()
	close(forever)
	db.Pool.Reset()
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck"))
}
