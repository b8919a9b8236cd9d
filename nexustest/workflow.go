package nexustest

import (
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// Finish has n work and moves the clock to the next time that a run of the namespace waits for, until this run ends: a workflow that sleeps for a
// month takes a moment. n has the workflow, and those of its children, by Add. The test fails if the run waits for what no clock brings, such as a
// signal: send it before. Of a run that goes on as a new one it is the last that ends.
func Finish[In, Out any](e *Env, n *node.Node, w *workflow.Workflow[In, Out], run uuid.UUID) (Out, error) {
	e.t.Helper()
	for {
		e.Work(n)
		if e.over(run) {
			return w.Await(e.t.Context(), e.Pool, run)
		}
		var next time.Time
		err := e.db.Owner.QueryRow(e.t.Context(), `
select c.due_at from core_private.workflow_cursors c join core_private.workflow_runs r using (run_id)
 where r.namespace = $1 and c.due_at > core.now() order by c.due_at limit 1`, string(e.Namespace)).Scan(&next)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			e.t.Fatalf("finish: run %s goes on by itself at no time: %v", run, e.waits(run))
		case err != nil:
			e.t.Fatalf("finish: %v", err)
		}
		e.Advance(next.Sub(e.Now()))
	}
}

func (e *Env) over(run uuid.UUID) (over bool) {
	e.t.Helper()
	var runs int
	if err := e.db.Owner.QueryRow(e.t.Context(), chain+`select count(*), coalesce(bool_and(finished_at is not null), false) from chain`, run).Scan(&runs, &over); err != nil {
		e.t.Fatalf("run %s: %v", run, err)
	}
	if runs == 0 {
		e.t.Fatalf("finish: there is no run %s", run)
	}
	return over
}

// chain is a run and those that it went on as.
const chain = `with recursive chain as (
	select run_id, continued_as, finished_at from core.workflow_runs where run_id = $1
	 union all
	select n.run_id, n.continued_as, n.finished_at from chain c join core.workflow_runs n on n.run_id = c.continued_as) `

func (e *Env) waits(run uuid.UUID) []string {
	e.t.Helper()
	return e.texts(chain+`select trim(concat_ws(' ', path, 'waits for', waits_for, signal, why)) from core.workflow_waits join chain using (run_id) order by path`, run)
}

// Journal is what a run has done so far, in the order of execution: the keys of its steps, with their status where that is not completed:
// "charge", "poll#3", "reserve~undo", "ship failed".
func (e *Env) Journal(run uuid.UUID) []string {
	e.t.Helper()
	return e.texts(`select key || case status when 'completed' then '' else ' ' || status end from core.workflow_steps where run_id = $1 order by ord, seq`, run)
}

func (e *Env) texts(sql string, run uuid.UUID) []string {
	e.t.Helper()
	rows, err := e.db.Owner.Query(e.t.Context(), sql, run)
	if err != nil {
		e.t.Fatalf("run %s: %v", run, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		e.t.Fatalf("run %s: %v", run, err)
	}
	return all
}
