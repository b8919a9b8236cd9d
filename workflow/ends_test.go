package workflow_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

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
