package workflow_test

import (
	"context"
	"errors"
	"runtime"
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

// holds: W2 (somebody else's transaction), W5
// An operator cancels some runs, and thinks before he commits. Other runs keep their leases, and go on; and so do these, once he has thought better of it.
func TestHeldByAnOperator(t *testing.T) {
	db := newDB(t)
	var deaths, left atomic.Int64
	goOn := map[int]chan struct{}{0: make(chan struct{}), 1: make(chan struct{}), 2: make(chan struct{})}
	w := workflow.New[order, int]("w")
	w.Lease = time.Second
	workflow.Step(w, "a", func(ctx context.Context, r *run) (int, error) {
		deaths.Add(int64(r.Deaths))
		select {
		case <-goOn[r.Input.Cents]:
		case <-ctx.Done():
		}
		left.Add(1)
		return 1, ctx.Err()
	})
	workflow.Step(w, "b", func(context.Context, *run) (int, error) { return 2, nil })
	workflow.WaitForSignal[int](w, "s", time.Millisecond)
	workflow.Step(w, "c", func(_ context.Context, r *run) (int, error) {
		if r.Attempt == 1 {
			return 0, errors.Join(nexus.Retry(0), errors.New("once"))
		}
		return 3, nil
	})
	start(t, db, node.Config{}, w)
	var held, free []uuid.UUID
	for i := range 2 { // as many as there are statements for commits at once
		held = append(held, begin(t, db, w, order{Cents: i}, nil))
	}
	for range 6 {
		free = append(free, begin(t, db, w, order{Cents: 2}, nil))
	}
	db.Wait(`select count(*) = 8 from core_private.workflow_cursors where token is not null`)
	// Eight steps run, and none has a transaction open.
	db.Wait(`select not exists (select from pg_stat_activity where datname = current_database() and xact_start is not null and pid <> pg_backend_pid())`)

	thinks, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = thinks.Rollback(context.Background()) }()
	for _, id := range held {
		if is, err := workflow.Cancel(t.Context(), thinks, id, true, ""); is != workflow.Cancelled || err != nil {
			t.Fatal(is, err)
		}
	}
	close(goOn[0]) // while its lease lasts, so that the node commits what came of it
	db.Wait(`select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ 'commit_step')`)
	// Longer than a lease.
	db.Wait(`select core.now() > max(due_at) + '100 ms' from core_private.workflow_cursors where run_id = any ($1)`, held)
	if got := dbtest.Get[int](db, `select count(*) from core_private.workflow_cursors where run_id = any ($1) and due_at > core.now() and deaths = 0`, free); got != 6 {
		t.Errorf("%d of 6 runs have kept their leases", got)
	}
	close(goOn[1])
	for began := time.Now(); left.Load() < 2 && time.Since(began) < patience; {
		runtime.Gosched()
	}
	close(goOn[2])
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a statement of the node may take 30 s
	defer cancel()
	for _, id := range free {
		if _, err := w.Await(soon, db.Pool, id); err != nil {
			t.Error(err)
		}
	}
	if n := deaths.Load(); n != 0 {
		t.Errorf("%d deaths, and nobody has died", n)
	}
	if err := thinks.Rollback(t.Context()); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
		t.Fatal(err)
	}
	for _, id := range held {
		if _, err := await(t, db, w, id); err != nil {
			t.Error(err)
		}
	}
}
