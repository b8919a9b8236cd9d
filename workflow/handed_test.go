package workflow_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// handed is a workflow of which one run is in hand at a time. Its process dies as soon as it comes to the second, if nobody died in that one before.
func handed(pool *pgxpool.Pool, dies bool) *workflow.Workflow[int, int] {
	w := workflow.New[int, int]("handed")
	w.Slots = 1
	var before atomic.Int32
	workflow.Step(w, "only", func(ctx context.Context, r *workflow.Run[int]) (int, error) {
		if dies && before.Add(1) > 1 && r.Deaths == 0 {
			die()
		}
		return r.Input, note(ctx, pool, r.ID, "only", r.Attempt)
	})
	return w
}

// holds: W2 (handed on)
// The end of a run and the claim of the next one are one transaction. A process that dies after that, and before it has done anything for the run that
// was handed on, has cost that run nothing but its lease.
func TestKilledBetweenHandingOnAndDoing(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := handed(db.Pool, false)
	n := newNode(db, node.Config{})
	n.Add(w)
	if _, err := n.Work(t.Context(), 1); err != nil { // registers it
		t.Fatal(err)
	}
	const runs = 4
	for i := range runs {
		begin(t, db, w, i, nil)
	}
	var found atomic.Int32
	dead := employ(t, db, "handed", func(ctx context.Context) {
		var n int32
		_ = db.Owner.QueryRow(ctx, `select count(*) from core_private.workflow_cursors c join core_private.workflow_runs r on r.xmin = c.xmin
			where c.token is not null and r.status = 'completed'`).Scan(&n)
		found.Add(n)
		_, _ = db.Owner.Exec(ctx, `update core_private.workflow_cursors set due_at = core.now() where token is not null`) // its lease ends
	})
	db.Wait(`select count(*) = $1 from core_private.workflow_runs where status = 'completed'`, runs)
	dead.mu.Lock()
	deaths := dead.deaths
	dead.mu.Unlock()
	if n := int(found.Load()); n < 2 || deaths != n { // the second process begins with a run that is due before what the first one had
		t.Errorf("%d runs were handed on to a process that died, of %d deaths", n, deaths)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from (select from public.effect group by run having count(*) = 1 and max(attempt) = 1) x`); n != runs {
		t.Errorf("%d of %d runs were done once, by the first attempt", n, runs)
	}
}
