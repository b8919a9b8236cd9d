package node_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/schedule"
)

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
