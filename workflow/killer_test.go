package workflow_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/workflow"
)

// What a run of killing does at its second step.
const (
	passes = iota
	kills  // its process, until somebody has mended it
	stays  // as long as one that kills is in hand
)

// killing is a workflow of which a step kills its process, where the input says so.
func killing(db execer) *workflow.Workflow[int, int] {
	w := workflow.New[int, int]("killing")
	type run = workflow.Run[int]
	step := func(ctx context.Context, r *run) (int, error) { return 1, note(ctx, db, r.ID, r.Step, r.Attempt) }
	workflow.Step(w, "before", step)
	workflow.Step(w, "kills", func(ctx context.Context, r *run) (int, error) {
		for r.Input == stays {
			if tag, err := db.Exec(ctx, `select from public.killers()`); err != nil || tag.RowsAffected() == 0 {
				break
			}
		}
		if tag, err := db.Exec(ctx, `select from public.mended`); r.Input == kills && err == nil && tag.RowsAffected() == 0 {
			die()
		}
		return step(ctx, r)
	})
	l := workflow.Loop(w, "l", 5, func(r *run) (bool, error) { return r.Turn == 5, nil })
	workflow.Step(l, "turn", step)
	return w
}

// holds: W2 (a killer), others-killers (steps: a killer)
// A step kills its process whenever it runs. Runs beside it end, and none of their steps has failed, also where one takes longer than the process lives
// with the killer; that is parked, which says where, and goes on once somebody has mended it.
func TestAKillerIsParked(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`create table public.mended ()`)
	db.Exec(`grant select on public.mended to public`)
	db.Exec(`create function public.killers() returns setof uuid language sql security definer as $$
		select c.run_id from core_private.workflow_cursors c join core_private.workflow_runs r using (run_id)
		where r.input = '1' and c.token is not null and c.due_at > core.now() $$`)
	w := killing(db.Pool)
	doomed := employ(t, db, "killer", func(ctx context.Context) {
		_, _ = db.Owner.Exec(ctx, `update core_private.workflow_cursors c
			set due_at = core.now() - case when exists (select from core_private.workflow_runs r where r.run_id = c.run_id and r.input = '1') then interval '1 s' else '0' end
			where node_id = 'doomed' and (token is not null or deaths >= 5)`)
	})
	db.Wait(`select exists (select from core_private.workflow_definitions)`)
	killer := begin(t, db, w, kills, nil)
	var others []uuid.UUID
	for _, does := range [...]int{passes, passes, stays} {
		others = append(others, begin(t, db, w, does, nil))
	}
	if !long() { // a death takes as long as a process to begin
		db.Wait(`select count(*) = 2 from core_private.workflow_cursors where deaths > 0 and pos = 1`)
		db.Exec(`update core_private.workflow_cursors set deaths = greatest(deaths, 8) where deaths > 0 and pos = 1`)
	}
	db.Wait(`select exists (select from core.workflow_waits where run_id = $1 and waits_for = 'operator')`, killer)
	const want = "parked: processes died in it 11 times, last on node doomed, in what comes after before"
	if got := dbtest.Get[string](db, `select why from core.workflow_waits where run_id = $1`, killer); got != want {
		t.Errorf("it is said to be %s", got)
	}
	db.Exec(`update core_private.workflow_cursors set due_at = core.now() where deaths >= 5 and token is null and state = 'R'`)
	for _, id := range others {
		if _, err := await(t, db, w, id); err != nil {
			t.Error(err)
		}
	}
	db.Exec(`insert into public.mended default values`)
	if goesOn, err := workflow.Retry(t.Context(), db.Owner, killer); err != nil || !goesOn {
		t.Fatal(goesOn, err)
	}
	if _, err := await(t, db, w, killer); err != nil {
		t.Error(err)
	}
	for _, id := range slices.Concat(others, []uuid.UUID{killer}) {
		if got := dbtest.Get[string](db, `select concat_ws(' ', count(distinct what), max(attempt)) from public.effect where run = $1`, id); got != "7 1" {
			t.Errorf("%s: steps that ran, and the last attempt: %s", id, got)
		}
	}
	doomed.mu.Lock()
	defer doomed.mu.Unlock()
	t.Logf("%d deaths", doomed.deaths)
}
