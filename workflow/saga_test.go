package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// trip says what goes wrong in a run of the saga: a step of that number for good, and the compensation of another one.
type trip struct {
	Fails string // a key of the journal; "": none
	Undo  string // whose compensation does not go well at first
	How   string // retried, fails, dies
}

// saga is a workflow that can be undone in every way there is. note writes down what it did.
func saga(db execer) *workflow.Workflow[trip, int] {
	w := workflow.New[trip, int]("saga")
	w.Retry = quick
	type run = workflow.Run[trip]
	step := func(ctx context.Context, r *run) (string, error) {
		if r.Input.Fails == r.Step {
			return "", nexus.Reject("planned")
		}
		return r.Step, note(ctx, db, r.ID, r.Step, r.Attempt)
	}
	stepTx := func(ctx context.Context, tx pgx.Tx, r *run) (string, error) {
		if err := note(ctx, tx, r.ID, r.Step, r.Attempt); err != nil || r.Input.Fails == r.Step {
			return "", errors.Join(err, nexus.Reject("planned"))
		}
		return r.Step, nil
	}
	bad := func(r *run) error {
		if r.Input.Undo != r.Step {
			return nil
		}
		switch {
		case r.Input.How == "retried" && r.Attempt == 1, r.Input.How == "fails":
			return errors.New("planned")
		case r.Input.How == "dies" && r.Deaths == 0:
			die()
		}
		return nil
	}
	undo := func(ctx context.Context, r *run, result string) error {
		if err := bad(r); err != nil {
			return err
		}
		if result+"~undo" != r.Step && result != "" {
			return nexus.Reject("the result of another step: " + result)
		}
		return note(ctx, db, r.ID, r.Step, r.Attempt)
	}
	undoTx := func(ctx context.Context, tx pgx.Tx, r *run, result string) error {
		if err := note(ctx, tx, r.ID, r.Step, r.Attempt); err != nil {
			return err
		}
		return bad(r)
	}
	workflow.Step(w, "a", step).Compensate(undo)
	workflow.TxStep(w, "b", stepTx).CompensateTx(undoTx)
	workflow.Step(w, "none", step)
	p := workflow.Parallel(w, "p")
	workflow.Step(p, "left", step).Compensate(undo)
	q := workflow.Sequence(p, "right")
	workflow.TxStep(q, "right-a", stepTx).CompensateTx(undoTx)
	workflow.Step(q, "right-b", step).Compensate(undo)
	workflow.CompensateItem(workflow.Map(w, "m", 2, func(*run) ([]int, error) { return []int{7, 8, 9}, nil },
		func(ctx context.Context, r *run, _ int) (string, error) { return step(ctx, r) }),
		func(ctx context.Context, r *run, i int, result string) error {
			if result != "" && !strings.HasSuffix(result, fmt.Sprint("#", i)) {
				return nexus.Reject("the wrong item")
			}
			return undo(ctx, r, result)
		})
	l := workflow.Loop(w, "l", 3, func(r *run) (bool, error) { return r.Turn == 2, nil })
	workflow.Step(l, "turn", step).Compensate(undo)
	last := workflow.Step(w, "last", step).Compensate(undo)
	last.CompensateOnFailure = true
	workflow.Step(w, "end", step)
	return w
}

// undoable are the steps of the saga that have a compensation, in the order of execution.
var undoable = []string{"a", "b", "left", "right-a", "right-b", "m#0", "m#1", "m#2", "turn#1", "turn#2", "last"}

// undone is what has to have been done and undone where a step fails.
func undone(fails string) (all []string) {
	switch {
	case fails == "none":
		all = []string{"a", "b"}
	case fails == "end":
		all = undoable
	case strings.HasPrefix(fails, "m#"): // items at once: which of the others have begun is not said
		return nil
	case fails == "left", fails == "right-a", fails == "right-b":
		return nil
	default:
		all = undoable[:slices.Index(undoable, fails)]
	}
	if fails == "last" {
		all = undoable // it may have happened
	}
	return all
}

// holds: W4
// Every step fails once for good, and what was done before is undone in reverse, each once.
func TestSaga(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := saga(db.Pool)
	start(t, db, node.Config{}, w)
	for _, fails := range append(slices.Clone(undoable), "none", "end") {
		db.Exec("truncate public.effect")
		id := begin(t, db, w, trip{Fails: fails}, nil)
		_, err := await(t, db, w, id)
		if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Status != "failed" || e.Reason != "planned" || e.Step != fails {
			t.Errorf("%s: %v", fails, err)
		}
		ran := dbtest.Get[[]string](db, `select coalesce(array_agg(what order by n) filter (where what !~ '~undo'), '{}') from public.effect`)
		undid := dbtest.Get[[]string](db, `select coalesce(array_agg(replace(what, '~undo', '') order by n) filter (where what ~ '~undo'), '{}') from public.effect`)
		want := undone(fails)
		if want == nil { // whatever ran
			for _, key := range undoable {
				if slices.Contains(ran, key) {
					want = append(want, key)
				}
			}
		}
		slices.Reverse(undid)
		if !slices.Equal(undid, want) {
			t.Errorf("%s fails: ran %v, and undone in reverse %v, want %v", fails, ran, undid, want)
		}
	}
	if out, err := await(t, db, w, begin(t, db, w, trip{}, nil)); err != nil || out != 0 {
		t.Error(err)
	}
}

// holds: W4
// Each compensation once fails and then succeeds, and once fails for good: the run is stuck, a dead letter says so, and Retry goes on with it.
func TestCompensationsThatFail(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := saga(db.Pool)
	start(t, db, node.Config{}, w)
	for _, key := range undoable {
		db.Exec("truncate public.effect")
		id := begin(t, db, w, trip{Fails: "end", Undo: key + "~undo", How: "retried"}, nil)
		_, err := await(t, db, w, id)
		if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Status != "failed" {
			t.Errorf("%s: %v", key, err)
		}
		got := dbtest.Get[string](db, `select string_agg(what || ' ' || attempt, ', ') from public.effect where what ~ '~undo' and attempt > 1`)
		if got != key+"~undo 2" {
			t.Errorf("compensations of a second attempt: %s, want that of %s", got, key)
		}
		if n := dbtest.Get[int](db, `select count(*)::int from public.effect where what ~ '~undo'`); n != len(undoable) {
			t.Errorf("%s: %d compensations, want %d", key, n, len(undoable))
		}
	}
	for _, key := range []string{"last", "b", "m#1"} {
		id := begin(t, db, w, trip{Fails: "end", Undo: key + "~undo", How: "fails"}, nil)
		_, err := await(t, db, w, id)
		if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Status != "compensation_failed" {
			t.Errorf("%s: %v", key, err)
		}
		done := slices.Index(undoable, key)
		if n := dbtest.Get[int](db, `select count(*)::int from public.effect where run = $1 and what ~ '~undo'`, id); n != len(undoable)-1-done {
			t.Errorf("%s: %d compensations before it", key, n)
		}
		if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters where source_kind = 'workflow_compensation' and last_error ~ 'planned'`); n == 0 {
			t.Errorf("%s: no dead letter", key)
		}
		db.Exec(`update core_private.workflow_runs set input = input || '{"Undo": ""}' where run_id = $1`, id)
		if resumed, err := workflow.Retry(t.Context(), db.Owner, id); err != nil || !resumed {
			t.Fatal(resumed, err)
		}
		_, err = await(t, db, w, id)
		if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Status != "failed" {
			t.Errorf("%s: %v", key, err)
		}
		if n := dbtest.Get[int](db, `select count(distinct what)::int from public.effect where run = $1 and what ~ '~undo'`, id); n != len(undoable) {
			t.Errorf("%s: %d compensations in the end", key, n)
		}
	}
}
