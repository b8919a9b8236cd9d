package workflow_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// A step at which the session ends each time is called again a few times, as for a server that is restarted, and then it has failed.
// holds: others-restart (not for ever)
func TestAStepThatAlwaysEndsItsSession(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	w.Retry, w.Lease = nexus.RetryPolicy{MaxAttempts: 1}, 12*time.Hour
	var calls atomic.Int64
	workflow.TxStep(w, "a", func(_ context.Context, tx pgx.Tx, r *run) (int, error) {
		calls.Add(1)
		db.Exec("select pg_terminate_backend($1)", tx.Conn().PgConn().PID())
		return 1, nil
	})
	start(t, db, node.Config{}, w)
	id := begin(t, db, w, order{}, nil)
	const over = `select finished_at is not null from core_private.workflow_runs where run_id = $1`
	const released = `select not exists (select from core_private.workflow_cursors where run_id = $1 and (due_at is null or due_at <= core.now() or token is not null))`
	for db.Wait(released, id); !dbtest.Get[bool](db, over, id); db.Wait(released, id) {
		db.Advance(2 * time.Second)
	}
	_, err := await(t, db, w, id)
	if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Step != "a" || calls.Load() < 10 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text } // panics on nil

// Whatever of a program a workflow calls may panic, exit, or return a typed nil: that is a failed attempt there, and the process lives on.
// holds: others-panics (workflows)
func TestCodeOfWorkflowsThatEndsBadly(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	ends := func(r *workflow.Run[string], at string) error {
		switch r.Input {
		case at + " panic":
			panic("boom")
		case at + " exit":
			runtime.Goexit()
		case at + " nil":
			var e *nilError
			return e
		}
		return nil
	}
	child := workflow.New[string, int]("child")
	workflow.Step(child, "c", func(context.Context, *workflow.Run[string]) (int, error) { return 1, nil })
	w := workflow.New[string, int]("w")
	w.Retry = nexus.RetryPolicy{MaxAttempts: 1}
	undone := workflow.Step(w, "undone", func(context.Context, *workflow.Run[string]) (int, error) { return 1, nil })
	undone.Compensate(func(_ context.Context, r *workflow.Run[string], _ int) error { return ends(r, "undo") })
	workflow.Step(w, "step", func(_ context.Context, r *workflow.Run[string]) (int, error) { return 1, ends(r, "step") })
	workflow.TxStep(w, "tx", func(ctx context.Context, tx pgx.Tx, r *workflow.Run[string]) (int, error) {
		if r.Input == "tx read only" {
			_, err := tx.Exec(ctx, "set transaction read only")
			return 1, err
		}
		return 1, ends(r, "tx")
	})
	workflow.SleepUntil(w, "until", func(r *workflow.Run[string]) time.Time {
		_ = ends(r, "until")
		return r.StartedAt
	})
	of := workflow.Route(w, "route", func(r *workflow.Run[string]) (string, error) { return "on", ends(r, "route") })
	loop := workflow.Loop(of("on"), "loop", 2, func(r *workflow.Run[string]) (bool, error) { return true, ends(r, "loop") })
	workflow.Step(loop, "turn", func(context.Context, *workflow.Run[string]) (int, error) { return 1, nil })
	workflow.Map(w, "map", 2, func(r *workflow.Run[string]) ([]int, error) { return []int{1}, ends(r, "items") },
		func(_ context.Context, r *workflow.Run[string], _ int) (int, error) { return 1, ends(r, "item") })
	workflow.Child(w, "kid", child, func(r *workflow.Run[string]) (string, error) { return "", ends(r, "child") })
	workflow.Step(w, "last", func(_ context.Context, r *workflow.Run[string]) (string, error) {
		switch {
		case r.Input == "nul":
			return "a\x00", nil
		case strings.HasPrefix(r.Input, "undo"):
			return "", nexus.Reject("undo it")
		}
		return "", nil
	})
	w.Returns(func(r *workflow.Run[string]) (int, error) { return 1, ends(r, "returns") })
	start(t, db, node.Config{}, w, child)
	want := map[string]string{"": "", "nul": "failed last result", "tx read only": "failed tx commit"}
	for at, step := range map[string]string{
		"step": "step", "tx": "tx", "until": "until", "route": "route", "loop": "loop#1", "items": "map", "item": "map#0", "child": "kid", "returns": "returns",
	} {
		want[at+" panic"], want[at+" exit"] = "failed "+step+" panic", "failed "+step+" panic"
		if at != "until" {
			want[at+" nil"] = "failed " + step + " error"
		}
	}
	want["undo panic"], want["undo nil"] = "compensation_failed last undo it", "compensation_failed last undo it"
	runs := map[string]uuid.UUID{}
	for in := range want {
		runs[in] = begin(t, db, w, in, nil)
	}
	for in, id := range runs {
		_, err := await(t, db, w, id)
		got := ""
		if e, ok := errors.AsType[*workflow.RunError](err); ok {
			got = e.Status + " " + e.Step + " " + e.Reason
		} else if err != nil {
			got = err.Error()
		}
		if got != want[in] {
			t.Errorf("%s: got %s, want %s", in, got, want[in])
		}
	}
	for what, err := range map[string]error{
		"start":  func() error { _, _, err := w.Start(t.Context(), db.Pool, ns, "a\x00", nil); return err }(),
		"signal": func() error { _, err := workflow.Signal(t.Context(), db.Pool, runs[""], "s", "a\x00"); return err }(),
	} {
		if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodePayload {
			t.Errorf("%s with a NUL: %v", what, err)
		}
	}
	_, err := workflow.Signal(t.Context(), db.Pool, runs[""], "s\xff", "a")
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeArgumentValue || e.Field != "p_name" {
		t.Errorf("a signal whose name is no text: %v", err)
	}
}

// A run that may be there or not is started by its key and signalled in one transaction: whoever comes first starts it, and each signal is there.
// holds: others-signals
func TestStartAndSignalInOneTransaction(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	a, b := workflow.WaitForSignal[int](w, "go", 0), workflow.WaitForSignal[int](w, "more", 0)
	w.Returns(func(r *run) (int, error) { return *a.Result(r) + *b.Result(r), nil })
	start(t, db, node.Config{}, w)
	var all sync.WaitGroup
	var ids sync.Map
	for i, name := range []string{"go", "more"} {
		all.Go(func() {
			if err := pgx.BeginFunc(t.Context(), db.Owner, func(tx pgx.Tx) error {
				id, _, err := w.Start(t.Context(), tx, ns, order{}, &workflow.StartOptions{IdempotencyKey: "k"})
				if err != nil {
					return err
				}
				ids.Store(id, true)
				got, err := workflow.Signal(t.Context(), tx, id, name, i+1)
				if err == nil && got != workflow.Stored {
					err = errors.New(string(got))
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	n := 0
	ids.Range(func(id, _ any) bool {
		n++
		if out, err := await(t, db, w, id.(uuid.UUID)); err != nil || out != 3 {
			t.Error(out, err)
		}
		return true
	})
	if n != 1 {
		t.Errorf("%d runs", n)
	}
}

// A step that ignores the end of its context holds up the exit no longer than the grace time and a moment, and its run goes on elsewhere at once.
// holds: others-stuck (workflows)
func TestAStuckStepDoesNotHoldUpTheExit(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	w.Lease = time.Hour
	began, forever := make(chan struct{}), make(chan struct{})
	defer close(forever)
	var calls atomic.Int64
	s := workflow.Step(w, "a", func(context.Context, *run) (int, error) {
		if calls.Add(1) == 1 {
			close(began)
			<-forever
		}
		return int(calls.Load()), nil
	})
	workflow.Sleep(w, "nap", 24*time.Hour)
	w.Returns(func(r *run) (int, error) { return s.Result(r), nil })
	stop := start(t, db, node.Config{Grace: 50 * time.Millisecond}, w)
	id := begin(t, db, w, order{}, nil)
	<-began
	at := time.Now()
	stop()
	if took := time.Since(at); took > 10*time.Second {
		t.Errorf("the exit took %s", took)
	}
	start(t, db, node.Config{}, w)
	db.Wait(`select state = 'T' from core_private.workflow_cursors where run_id = $1`, id)
}
