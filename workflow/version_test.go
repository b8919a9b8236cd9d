package workflow_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// ordered is a workflow of these steps, of which "go" waits for a signal.
func ordered(db *dbtest.DB, version int, names ...string) *workflow.Workflow[order, int] {
	w := workflow.New[order, int]("w")
	w.Version = version
	for _, name := range names {
		if name == "go" {
			workflow.WaitForSignal[int](w, name, 0)
			continue
		}
		s := workflow.Step(w, name, func(ctx context.Context, r *run) (int, error) { return 1, note(ctx, db.Pool, r.ID, r.Step, version) })
		s.Timeout = time.Duration(version) * time.Minute // no part of what has to fit
	}
	w.Returns(func(*run) (int, error) { return version, nil })
	return w
}

// holds: W11
// A run goes on with new code that begins as it has begun, and is left alone by code that does not.
// holds: others-unknown (runs), others-new-code
func TestNewCode(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	stop := start(t, db, node.Config{ID: "old"}, ordered(db, 1, "a", "go", "b"))
	id := begin(t, db, ordered(db, 1, "a", "go", "b"), order{}, nil)
	db.Wait(`select exists (select from core_private.workflow_cursors where state = 'W')`)
	stop()

	stop = start(t, db, node.Config{ID: "other"}, ordered(db, 2, "x", "go", "b"))
	if _, err := workflow.Signal(t.Context(), db.Pool, id, "go", 1); err != nil {
		t.Fatal(err)
	}
	db.Exec(`select core.run_sweep('workflows')`)
	db.Wait(`select why like '%definition_mismatch%' from core.workflow_waits where run_id = $1`, id)
	if got := dbtest.Get[string](db, inOrder); got != "a" {
		t.Errorf("code that does not fit did %s", got)
	}
	stop()

	next := ordered(db, 3, "a", "go", "b", "c")
	start(t, db, node.Config{ID: "new"}, next)
	db.Exec(`select core.run_sweep('workflows')`)
	if out, err := await(t, db, next, id); err != nil || out != 3 {
		t.Error(out, err)
	}
	if got := dbtest.Get[string](db, `select string_agg(what || attempt, ' ' order by n) from public.effect`); got != "a1 b3 c3" {
		t.Errorf("effects, with the version: %s", got)
	}
}

// holds: W13 (concurrency)
// No more runs are in hand at once than the workflow says, on all nodes, and none is claimed while another claim finds out how many are.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	hold := make(chan struct{})
	w := workflow.New[order, int]("w")
	w.Concurrency = 2
	workflow.Step(w, "a", func(ctx context.Context, r *run) (int, error) {
		<-hold
		return 1, note(ctx, db.Pool, r.ID, "a", r.Attempt)
	})
	start(t, db, node.Config{}, w)
	start(t, db, node.Config{}, w)
	db.Wait(`select exists (select from core.workflow_definitions)`)
	claiming, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = claiming.Rollback(context.Background()) }()
	// It waits for claims of the nodes, which would have it pass.
	for _, look := range []string{
		`select from core_private.workflow_definitions for no key update`,
		`select core_private.runs_within_limit(def_id, 1, core.now(), core.now(), gen_random_uuid()) from core_private.workflow_definitions`,
	} {
		if _, err := claiming.Exec(t.Context(), look); err != nil {
			t.Fatal(err)
		}
	}
	db.Exec(`select core.start_workflow($1, 'w') from generate_series(1, 6)`, ns)
	const inHand = `select count(*) from core_private.workflow_cursors where token is not null`
	db.Exec(`select core_node.claim_runs($1, array(select def_id from core_private.workflow_definitions), 'n', 10, '1 min')`, ns)
	if n := dbtest.Get[int64](db, inHand); n != 0 {
		t.Errorf("%d are in hand, while another claim finds out how many are", n)
	}
	if err := claiming.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.Wait(`select (` + inHand + `) = 2`)
	for range 4 {
		hold <- struct{}{}
		if n := dbtest.Get[int64](db, inHand); n > 2 {
			t.Errorf("%d are in hand", n)
		}
	}
	close(hold)
	db.Wait(`select count(*) = 6 from core_private.workflow_runs where status = 'completed'`)
}

// holds: W14
// Before a deploy new code can be asked which runs it does not fit, and that registers nothing.
// holds: others-new-code
func TestCheckBeforeADeploy(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	now := ordered(db, 1, "a", "go", "b")
	stop := start(t, db, node.Config{ID: "old"}, now)
	id := begin(t, db, now, order{}, nil)
	db.Wait(`select exists (select from core_private.workflow_cursors where state = 'W')`)
	for name, c := range map[string]struct {
		steps []string
		want  []workflow.Unfit
	}{
		"the same":              {[]string{"a", "go", "b"}, []workflow.Unfit{}},
		"a step behind":         {[]string{"a", "go", "c", "d"}, []workflow.Unfit{}},
		"another name":          {[]string{"x", "go", "b"}, []workflow.Unfit{{Run: id, Version: 1, Begun: 2, Step: "a"}}},
		"a step before the one": {[]string{"a", "x", "go"}, []workflow.Unfit{{Run: id, Version: 1, Begun: 2, Step: "go"}}},
		"less than was begun":   {[]string{"a"}, []workflow.Unfit{{Run: id, Version: 1, Begun: 2, Step: "go"}}},
	} {
		got, err := ordered(db, 2, c.steps...).Check(t.Context(), db.Pool, "shop")
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.workflow_definitions`); n != 1 {
		t.Errorf("%d definitions", n)
	}

	if _, err := workflow.Signal(t.Context(), db.Pool, id, "go", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := await(t, db, now, id); err != nil {
		t.Fatal(err)
	}
	stop()
	if got, err := ordered(db, 2, "x").Check(t.Context(), db.Pool, "shop"); err != nil || len(got) != 0 {
		t.Errorf("of a run that has ended: %v, %v", got, err)
	}
	if _, err := ordered(db, 2, "x", "x").Check(t.Context(), db.Pool, "shop"); err == nil {
		t.Error("a workflow that cannot be was checked")
	}
}
