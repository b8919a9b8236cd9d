package node_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/svc"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/schedule"
)

// holds: S12
func TestDeclaredBecomesTrueWhenTheNodeRuns(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	if _, err := (schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Namespace: ns, Name: "old", Cron: "* * * * *", Type: "x"}}}).Apply(t.Context(), db.Pool, false); err != nil {
		t.Fatal(err)
	}
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Name: "close-day", Cron: "30 2 * * *", Type: "day.closed"}}})
	start(t, n)
	db.Wait("select array_agg(namespace || '/' || name) = '{shop/close-day}' from core.scheduled_tasks")
}

func TestAServiceThatFailsEndsTheNode(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Name: "close-day", Cron: "30 25 * * *", Type: "day.closed"}}})
	err := n.Run(t.Context())
	var e *nexus.Error
	if !errors.As(err, &e) || e.Code != nexus.CodeCron {
		t.Errorf("Run: %v, want what is wrong with the expression", err)
	}
	if got := dbtest.Get[string](db, "select state from core.nodes"); got != "stopped" {
		t.Errorf("the node is %s", got)
	}
}

// Work does what Run does, inline: what is declared is, once, and fires when it is due.
// holds: work
func TestWorkDeclaresAndFires(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.SetNow(time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC))
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Name: "close-day", Cron: "30 2 * * *", Type: "day.closed"}}})
	var slots []time.Time
	n.On("day.closed", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
		slots = append(slots, d.Slot)
		return errors.New("the node's policy allows one attempt")
	})
	work := func(want int) {
		t.Helper()
		if got, err := n.Work(t.Context(), 100); err != nil || got != want {
			t.Fatalf("%d handled, %v; want %d", got, err, want)
		}
	}
	work(0)
	if _, err := schedule.ScheduleEvent(t.Context(), db.Pool, ns, "day.closed", nil, db.Now().Add(time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	work(0)
	db.Advance(24 * time.Hour)
	work(2)
	want := time.Date(2026, 5, 5, 2, 30, 0, 0, time.UTC)
	if !slices.ContainsFunc(slots, want.Equal) {
		t.Errorf("slots %v, want %v among them", slots, want)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 2 {
		t.Errorf("%d dead letters, want two", n)
	}
	if err := schedule.DeleteTask(t.Context(), db.Pool, ns, "close-day"); err != nil {
		t.Fatal(err)
	}
	work(0)
	if n := dbtest.Get[int](db, `select count(*)::int from core.scheduled_tasks`); n != 0 {
		t.Error("declared a second time, as Run would not")
	}
}

// holds: work
func TestAServiceThatFailsEndsWork(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Name: "close-day", Cron: "30 25 * * *", Type: "day.closed"}}})
	for range 2 {
		if _, err := n.Work(t.Context(), 1); !errors.Is(err, nexus.ErrInvalid) {
			t.Errorf("Work: %v, want what is wrong with the expression", err)
		}
	}
}

// served is a service of one function.
type served func(ctx context.Context, rt *svc.Runtime) error

func (f served) Serve(ctx context.Context, rt *svc.Runtime) error { return f(ctx, rt) }

func (f served) Declare(context.Context, *svc.Runtime) error { return nil }

// A service has the grace time to finish what it runs, as handlers do.
// holds: N4-services
func TestAServiceHasGrace(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Grace: time.Minute})
	type key struct{}
	draining, finish := make(chan struct{}), make(chan struct{})
	n.Add(served(func(ctx context.Context, rt *svc.Runtime) error {
		<-ctx.Done()
		close(draining)
		<-finish
		if rt.Handling.Value(key{}) != "of Run" {
			t.Error("what it runs has not the values of Run's context")
		}
		_, err := rt.Own.Exec(rt.Handling, `select core.now()`)
		if err != nil {
			t.Errorf("what it runs was cut short: %v", err)
		}
		return err
	}))
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "of Run"))
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	cancel()
	<-draining
	db.Wait(`select count(*) = 1 from core.nodes where state = 'draining'`)
	select {
	case err := <-done:
		t.Errorf("Run did not wait for it: %v", err)
	default:
	}
	close(finish)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// When that is over, what it runs is cancelled; one that ends then is no cause for a line.
// holds: N4-services
func TestWhatAServiceRunsEndsWithTheGrace(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var log buffer
	n := node.New(db.Pool, node.Config{Namespace: ns, Grace: 50 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	n.Add(served(func(ctx context.Context, rt *svc.Runtime) error {
		<-rt.Handling.Done()
		if ctx.Err() == nil || !errors.Is(context.Cause(rt.Handling), nexus.ErrDraining) {
			t.Errorf("ended by %v, want the drain", context.Cause(rt.Handling))
		}
		return nil
	}))
	stop := start(t, n)
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	stop()
	if strings.Contains(log.String(), "did not end in time") {
		t.Errorf("it ended in time:\n%s", log.String())
	}
}

// One that ignores the end holds up nobody, with a connection of the node in its hands.
// holds: N4-services
func TestAStuckServiceDoesNotHoldUpTheExit(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var log buffer
	n := node.New(db.Pool, node.Config{Namespace: ns, Grace: 50 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	holds, release, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
	n.Add(served(func(_ context.Context, rt *svc.Runtime) error {
		defer close(returned)
		conn, err := rt.Own.Acquire(context.Background())
		if err != nil {
			return err
		}
		defer conn.Release()
		close(holds)
		<-release
		return nil
	}), schedule.Declared{Owner: "billing"})
	stop := start(t, n)
	<-holds
	stop()
	if got := dbtest.Get[string](db, "select state from core.nodes"); got != "stopped" {
		t.Errorf("the node is %s", got)
	}
	if said := log.String(); strings.Count(said, "did not end in time") != 1 || !strings.Contains(said, "service=node_test.served") {
		t.Errorf("the log does not name it, and it alone:\n%s", said)
	}
	close(release)
	<-returned
}
