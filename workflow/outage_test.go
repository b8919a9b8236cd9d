package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// holds: W2 (the server dies)
// The server is killed and comes back, twice, while two nodes have runs in hand: all end, what was in transactions is there once, and an outage is no
// failure of a step.
func TestTheServerDies(t *testing.T) {
	if !long() {
		t.Skip("NEXUS_TEST_LONG is not set")
	}
	cluster := dbtest.Cluster(t, pgdev.Options{}, dbtest.BuildTemplate)
	pool := dbtest.ClusterPool(t, cluster)
	for _, sql := range []string{
		`select core.create_namespace('shop')`,
		`create table public.effect (n bigint generated always as identity, run uuid, what text, attempt int)`,
	} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	const runs = 200
	w := workflow.New[int, int]("w")
	l := workflow.Loop(w, "l", 5, func(r *workflow.Run[int]) (bool, error) { return r.Turn == 5, nil })
	workflow.TxStep(l, "tx", func(ctx context.Context, tx pgx.Tx, r *workflow.Run[int]) (int, error) {
		return 1, note(ctx, tx, r.ID, r.Step, r.Attempt)
	})
	workflow.Step(l, "leased", func(context.Context, *workflow.Run[int]) (int, error) { return 1, nil })
	workflow.Sleep(l, "nap", 20*time.Millisecond)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	for _, id := range []string{"one", "two"} {
		n := node.New(dbtest.ClusterPool(t, cluster), node.Config{ID: id, Namespace: ns, Lease: 5 * time.Second, Poll: 20 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		n.Add(w)
		go func() { ended <- n.Run(ctx) }()
	}
	defer func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}()
	until := func(sql string) {
		t.Helper()
		soon, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		for is := false; !is; {
			if err := pool.QueryRow(soon, sql).Scan(&is); errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("still not true: %s", sql)
			}
		}
	}
	until(`select count(*) = 2 from core_private.node_capabilities where kind = 'workflow'`)
	if _, err := pool.Exec(t.Context(), `select core.start_workflow('shop', 'w', '1') from generate_series(1, $1)`, runs); err != nil {
		t.Fatal(err)
	}
	for _, steps := range []string{"300", "900"} {
		until(`select count(*) > ` + steps + ` from core_private.workflow_journal`)
		if err := errors.Join(cluster.Kill(), cluster.Restart(t.Context(), nil)); err != nil {
			t.Fatal(err)
		}
	}
	until(`select count(*) = 200 from core_private.workflow_runs where status = 'completed'`)
	var rows, effects, failures int
	if err := pool.QueryRow(t.Context(), `select count(*), count(distinct (run, what)), count(*) filter (where attempt > 1) from public.effect`).Scan(&rows, &effects, &failures); err != nil {
		t.Fatal(err)
	}
	if rows != 5*runs || effects != rows || failures != 0 {
		t.Errorf("%d effects of %d steps, %d after failures", rows, effects, failures)
	}
}

// holds: W2 (many steps)
// A run of 10,000 steps takes as long for the last of them as for the first: those of a loop, and those that are declared one by one.
func TestALongRunIsLinear(t *testing.T) {
	if !long() {
		t.Skip("NEXUS_TEST_LONG is not set")
	}
	const steps = 10_000
	db := newDB(t)
	loop := workflow.New[int, int]("loop")
	l := workflow.Loop(loop, "l", steps, func(r *workflow.Run[int]) (bool, error) { return r.Turn == steps, nil })
	one := func(context.Context, *workflow.Run[int]) (int, error) { return 1, nil }
	workflow.Step(l, "a", one)
	row := workflow.New[int, int]("row")
	for i := range steps {
		workflow.Step(row, fmt.Sprint("s", i), one)
	}
	start(t, db, node.Config{}, loop, row)
	for _, w := range []*workflow.Workflow[int, int]{loop, row} {
		id := begin(t, db, w, 1, nil)
		db.Wait(`select exists (select from core_private.workflow_runs where run_id = $1 and status = 'completed')`, id)
		first, last := 0.0, 0.0
		if err := db.Owner.QueryRow(t.Context(), `
			with t as (select completed_at as at, ntile(4) over (order by seq) as quarter from core_private.workflow_journal where run_id = $1)
			select extract(epoch from max(at) filter (where quarter = 1) - min(at) filter (where quarter = 1)),
			       extract(epoch from max(at) filter (where quarter = 4) - min(at) filter (where quarter = 4)) from t`, id).Scan(&first, &last); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f s for the first quarter, %.1f s for the last", w.Name(), first, last)
		if last > 3*first { // where each step looks at all before it, it is seven times
			t.Errorf("%s: the first quarter took %.1f s, and the last %.1f s", w.Name(), first, last)
		}
	}
}
