package workflow_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// holds: W6 (times at the edge)
// A time before all that Postgres knows is over, as each other one of the past; one beyond 30 years, or beyond what Postgres knows, fails its step at once.
func TestTimesAtTheEdge(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[time.Time, int]("w")
	workflow.SleepUntil(w, "until", func(r *workflow.Run[time.Time]) time.Time { return r.Input })
	w.Returns(func(*workflow.Run[time.Time]) (int, error) { return 1, nil })
	years := workflow.New[int, int]("years") // which JSON has no times of
	workflow.SleepUntil(years, "until", func(r *workflow.Run[int]) time.Time { return time.Date(r.Input, 1, 1, 0, 0, 0, 0, time.UTC) })
	start(t, db, node.Config{}, w, years)
	if _, err := await(t, db, w, begin(t, db, w, time.Time{}, nil)); err != nil {
		t.Errorf("the zero time: %v", err)
	}
	runs := map[int]uuid.UUID{}
	for _, year := range []int{-290_000, -5000, -4713, 0, 9999, 294_277, 300_000} {
		runs[year] = begin(t, db, years, year, nil)
	}
	for year, id := range runs {
		_, err := await(t, db, years, id)
		e, failed := errors.AsType[*workflow.RunError](err)
		if past := year <= 0; past && err != nil || !past && (!failed || e.Status != "failed" || e.Step != "until" || e.Reason != "refused") {
			t.Errorf("until the year %d: %v", year, err)
		}
	}
}

// holds: W2 (the clock), W6 (the clock)
// The database's clock goes forward by hours and back by more, while runs are under way and wait. Leases that ended by this are deaths of nobody's
// process; what is in a transaction is there once, and sleeps end when the clock is there.
func TestTheClockIsMoved(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	began, end := make(chan struct{}, 20), make(chan struct{})
	w := workflow.New[order, int]("w")
	workflow.TxStep(w, "a", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		return 1, note(ctx, tx, r.ID, "a", r.Attempt)
	})
	workflow.Step(w, "b", func(ctx context.Context, r *run) (int, error) {
		began <- struct{}{}
		select {
		case <-end:
		case <-ctx.Done():
		}
		return 1, ctx.Err()
	})
	workflow.Sleep(w, "nap", time.Hour)
	workflow.TxStep(w, "c", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		return 1, note(ctx, tx, r.ID, "c", r.Attempt)
	})
	start(t, db, node.Config{ID: "one"}, w)
	start(t, db, node.Config{ID: "two"}, w)
	runs := []uuid.UUID{begin(t, db, w, order{}, nil), begin(t, db, w, order{}, nil)}
	<-began
	<-began
	db.Advance(5 * time.Hour)
	runs = append(runs, begin(t, db, w, order{}, nil))
	db.Wait(`select count(*) = 3 from public.effect`) // else it would wait for the time of its start
	db.Advance(-10 * time.Hour)
	runs = append(runs, begin(t, db, w, order{}, nil))
	close(end)
	db.Wait(`select count(*) = 4 from core_private.workflow_cursors where state = 'T'`)
	if got := dbtest.Get[string](db, `select string_agg(what, ' ') from public.effect`); got != "a a a a" {
		t.Errorf("before they sleep: %s", got)
	}
	db.Advance(time.Hour - time.Minute)
	db.Wait(`select not exists (select from core_private.workflow_cursors where due_at < core.now())`)
	if n := dbtest.Get[int](db, `select count(*)::int from public.effect where what = 'c' and at < core.now() - interval '2 h'`); n != 0 {
		t.Errorf("%d sleeps ended before their time", n)
	}
	db.Advance(10 * time.Hour)
	for _, id := range runs {
		if _, err := await(t, db, w, id); err != nil {
			t.Error(err)
		}
	}
	if got := dbtest.Get[string](db, `select string_agg(distinct e, ', ') from (select string_agg(what, ' ' order by n) as e from public.effect group by run) x`); got != "a c" {
		t.Errorf("run by run: %s", got)
	}
}

// holds: W1 (roles that go)
// A run goes on without the role that started it. A node that loses its rights ends with that error, and its runs go on with one that has some.
func TestRolesThatGo(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	workflow.WaitForSignal[int](w, "go", 0)
	workflow.Step(w, "a", func(ctx context.Context, r *run) (int, error) { return 1, note(ctx, db.Pool, r.ID, "a", r.Attempt) })
	theirs, url := db.As("nexus_consumer")
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	n := node.New(pool, node.Config{Namespace: ns, Poll: 20 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	n.Add(w)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(t.Context()) }()
	db.Wait(`select exists (select from core_private.workflow_definitions)`)

	starter, url := db.As("nexus_producer")
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := w.Start(t.Context(), conn, ns, order{}, nil)
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	db.Wait(`select exists (select from core_private.workflow_cursors where state = 'W')`)
	db.Exec(`drop role ` + starter + `; create role ` + starter) // for whoever drops it in the end
	db.Exec(`revoke nexus_consumer from ` + theirs)
	select {
	case err := <-ended:
		if !errors.Is(err, nexus.ErrForbidden) { // the function is not its to call, or what it is in the middle of says so
			t.Errorf("the node ended with %v", err)
		}
	case <-time.After(patience):
		t.Error("the node goes on without rights")
	}
	if _, err := workflow.Signal(t.Context(), db.Owner, id, "go", 1); err != nil {
		t.Fatal(err)
	}
	start(t, db, node.Config{}, w)
	if _, err := await(t, db, w, id); err != nil {
		t.Error(err)
	}
}
