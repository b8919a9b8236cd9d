package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
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
// holds: others-undo
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

// surely are those that have been done wherever that step fails, whatever went on beside it.
func surely(fails string) []string {
	switch fails {
	case "none", "left", "right-a", "right-b":
		return undoable[:2]
	case "m#0", "m#1", "m#2":
		return undoable[:5]
	}
	return undone(fails)
}

// holds: W4
// Wherever the run fails, each compensation fails at first, and fails for good: then the run is stuck, a dead letter says so, and Retry goes on with it.
// That processes die in them is TestKilledInCompensations.
// holds: others-undo
func TestCompensationsThatFail(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := saga(db.Pool)
	start(t, db, node.Config{}, w)
	type trial struct {
		trip
		id uuid.UUID
	}
	var trials []trial
	for _, how := range []string{"retried", "fails"} {
		for _, fails := range append(slices.Clone(undoable), "none", "end") {
			for _, key := range surely(fails) {
				in := trip{Fails: fails, Undo: key + "~undo", How: how}
				trials = append(trials, trial{in, begin(t, db, w, in, nil)})
			}
		}
	}
	// reverse is what was undone, the last first, which is to be all that ran from that key on.
	reverse := func(c trial, from string) {
		t.Helper()
		ran := dbtest.Get[[]string](db, `select array_agg(distinct what) from public.effect where run = $1 and what !~ '~undo'`, c.id)
		var want []string
		for _, key := range undoable {
			if slices.Contains(ran, key) || key == c.Fails && key == "last" {
				want = append(want, key)
			}
		}
		if from != "" {
			want = want[slices.Index(want, from)+1:]
		}
		undid := dbtest.Get[[]string](db, `select coalesce(array_agg(replace(what, '~undo', '') order by n), '{}') from public.effect where run = $1 and what ~ '~undo'`, c.id)
		slices.Reverse(undid)
		if !slices.Equal(undid, want) {
			t.Errorf("%+v: undone in reverse %v, want %v", c.trip, undid, want)
		}
	}
	ends := func(c trial, status string) {
		t.Helper()
		_, err := await(t, db, w, c.id)
		if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Status != status {
			t.Errorf("%+v: %v, want %s", c.trip, err, status)
		}
	}
	for _, c := range trials {
		if c.How == "retried" {
			ends(c, "failed")
			reverse(c, "")
			got := dbtest.Get[string](db, `select string_agg(what || ' ' || attempt, ', ') from public.effect where run = $1 and what ~ '~undo' and attempt > 1`, c.id)
			if got != c.Undo+" 2" {
				t.Errorf("%+v: compensations of a second attempt: %s", c.trip, got)
			}
			continue
		}
		ends(c, "compensation_failed")
		reverse(c, strings.TrimSuffix(c.Undo, "~undo"))
		if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters where source_kind = 'workflow_compensation' and source_ref = jsonb_build_object('runId', $1::uuid)
			and last_error ~ 'planned' and resolved_at is null`, c.id); n != 1 {
			t.Errorf("%+v: %d dead letters", c.trip, n)
		}
	}
	db.Exec(`update core_private.workflow_runs set input = input || '{"Undo": ""}' where status = 'compensation_failed'`)
	for _, c := range trials {
		if c.How != "fails" {
			continue
		}
		if resumed, err := workflow.Retry(t.Context(), db.Owner, c.id); err != nil || !resumed {
			t.Fatal(resumed, err)
		}
	}
	for _, c := range trials {
		if c.How == "fails" {
			ends(c, "failed")
			reverse(c, "")
		}
	}
}

// undoInSQL makes the function flows.undo, which writes down what it was called for, as the login of nodes; it fails for a run whose plan says so.
func undoInSQL(t *testing.T, db *dbtest.DB) {
	t.Helper()
	db.Exec(fmt.Sprintf(`create schema flows authorization %q`, db.Pool.Config().ConnConfig.User))
	if _, err := db.Pool.Exec(t.Context(), `grant usage on schema flows to public;
		create table flows.did (n bigint generated always as identity, run uuid, key text, attempt int, val bigint);
		grant all on flows.did to public;
		create function flows.undo(e jsonb) returns void language plpgsql security definer set search_path = flows as $$ begin
			insert into flows.did (run, key, attempt, val)
			values ((e ->> 'runId')::uuid, (e ->> 'step') || '~undo', (e ->> 'attempt')::int, coalesce((e ->> 'result')::bigint, 0));
			if e #>> '{input,Stuck}' = (e ->> 'step') || '~undo' then
				raise exception 'planned';
			end if;
		end $$;
		grant execute on function flows.undo(jsonb) to nexus_guard`); err != nil {
		t.Fatal(err)
	}
}

// holds: W4 (in SQL, with no node alive)
// A run is left to compensations in SQL, and its node stops. What pg_cron's job calls ends it; NEXUS_TEST_LONG waits for pg_cron, which takes up to a
// minute.
func TestUndoneInSQLWithNoNodeAlive(t *testing.T) {
	t.Parallel()
	var db *dbtest.DB
	if long() {
		db = dbtest.Cron(t)
		db.Namespace(ns)
		db.Exec(`update cron.job set database = current_database() where jobname = 'nexus:work'`)
		t.Cleanup(func() {
			_, _ = db.Owner.Exec(context.Background(), `drop schema flows cascade; select core.drop_namespace(namespace, namespace, true) from core.namespaces`)
		})
	} else {
		db = newDB(t)
	}
	undoInSQL(t, db)
	w := workflow.New[plan, int]("w")
	for i, name := range []string{"a", "b"} {
		workflow.Step(w, name, func(context.Context, *planned) (int, error) { return i + 5, nil }).CompensateSQL("flows.undo(jsonb)")
	}
	workflow.Step(w, "c", func(context.Context, *planned) (int, error) { return 0, nexus.Reject("planned") })
	stop := start(t, db, node.Config{}, w)
	id := begin(t, db, w, plan{}, nil)
	db.Wait(`select status = 'compensating' from core_private.workflow_runs where run_id = $1`, id)
	stop()
	if n := dbtest.Get[int](db, `select count(*)::int from core.nodes where state = 'active'`); n != 0 {
		t.Fatalf("%d nodes live", n)
	}
	if !long() {
		if err := connectAs(t, db.SQLURL())("call core.work_all('1 s')"); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(3 * time.Minute); !dbtest.Get[bool](db, `select status = 'failed' from core_private.workflow_runs where run_id = $1`, id); {
		if time.Now().After(deadline) {
			t.Fatal("nobody has undone it")
		}
		db.Wait(`select pg_sleep(0.2) is not null`)
	}
	if got := dbtest.Get[string](db, `select string_agg(concat_ws(' ', key, attempt, val), ', ' order by n) from flows.did where run = $1`, id); got != "b~undo 1 6, a~undo 1 5" {
		t.Errorf("undone: %s", got)
	}
}
