package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// noFallback wants that no node took the loss of connections for the death of another one, or has taken that back.
const noFallback = `select not exists (select from core_private.express_batches)`

// The server is restarted, three times, under two nodes in the middle of express batches. They live, so they stay in express.
// holds: H3-restart, others-restart (express)
func TestARestartIsNoDeathInExpress(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs servers of its own to restart, and the time for it: not with -short")
	}
	for mode, on := range sharing {
		if mode == "OnBatch leased" {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			cluster := dbtest.Cluster(t, pgdev.Options{}, dbtest.BuildTemplate)
			ours := dbtest.ClusterPool(t, cluster)
			for _, sql := range []string{`select core.create_namespace('shop')`, `create table public.effect (event_uid uuid not null, attempt int not null, note text)`} {
				if _, err := ours.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			var log buffer
			for i := range 2 {
				n := node.New(dbtest.ClusterPool(t, cluster), node.Config{Namespace: ns, ID: fmt.Sprintf("node-%d", i), Logger: slog.New(slog.NewTextHandler(&log, nil))})
				on(n, "x", effectOnly)
				start(t, n)
			}
			wait := func(what, sql string, args ...any) {
				t.Helper()
				again(t, what, func() error {
					var ok bool
					if err := ours.QueryRow(t.Context(), sql, args...).Scan(&ok); err != nil || ok {
						return err
					}
					return errors.New("not yet")
				})
			}
			total := 0
			send := func() {
				t.Helper()
				again(t, "emit", func() error {
					_, err := queue.Emitter{Namespace: ns}.EmitBatch(t.Context(), ours, many("x", 1000))
					return err
				})
				total += 1000
			}
			for range 3 {
				send()
				wait("a batch in hand", `select exists (select from core_private.express_batches) or count(*) = $1 from public.effect`, total)
				if err := cluster.Restart(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				// A message that is lost three times in a row counts as what ends the server.
				wait("effects", `select count(*) = $1 from public.effect`, total)
			}
			wait("marks taken back", noFallback)
			send()
			wait("effects", `select count(*) = $1 from public.effect`, total)
			var twice, errs, read int
			if err := ours.QueryRow(t.Context(), `select count(*) - count(distinct event_uid), (select count(*) from core.delivery_errors),
				count(*) filter (where attempt > 1) from public.effect`).Scan(&twice, &errs, &read); err != nil {
				t.Fatal(err)
			}
			if twice != 0 || errs != 0 || read != 0 {
				t.Errorf("%d effects twice, %d failures, %d attempts used up", twice, errs, read)
			}
			if strings.Contains(log.String(), "using leases") {
				t.Errorf("a living node was taken for dead:\n%s", log.String())
			}
		})
	}
}

// All sessions of the nodes are ended at once, again and again: whatever counts as a death is taken back.
// holds: H3-restart
func TestACutIsNoDeathInExpress(t *testing.T) {
	t.Parallel()
	for mode, on := range sharing {
		if mode == "OnBatch leased" {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			for i := range 2 {
				pool, err := pgxpool.New(t.Context(), db.URL)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(pool.Close)
				n := node.New(pool, node.Config{Namespace: ns, ID: fmt.Sprintf("node-%d", i)})
				on(n, "x", effectOnly)
				start(t, n)
			}
			for round := range 8 {
				if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Owner, many("x", 500)); err != nil {
					t.Fatal(err)
				}
				db.Wait(`select exists (select from core_private.express_batches) or count(*) > $1 from public.effect`, 500*round)
				db.Exec(`select pg_terminate_backend(pid) from pg_stat_activity where usename = $1 and datname = current_database()`, dbtest.Login)
				// A message that is lost three times in a row counts as what ends the session.
				db.Wait(queueEmpty)
			}
			db.Wait(noFallback)
			checkEffects(t, db, 4000)
			if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 0 {
				t.Errorf("%d failures", n)
			}
			// In express an attempt is counted when it fails, under leases when it begins: what is claimed now is not written to before.
			began := time.Now()
			if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Owner, many("x", 100)); err != nil {
				t.Fatal(err)
			}
			db.Wait(queueEmpty)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func many(eventType string, n int) []queue.Emission {
	batch := make([]queue.Emission, n)
	for i := range batch {
		batch[i].Type = eventType
	}
	return batch
}

func effectOnly(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
	return effect(ctx, tx, d, "")
}
