package node_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

func isQueueLost(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && e.Code == nexus.CodeQueueLost
}

// Somebody drops the queues under a node. It goes on, says so once, and handles events again when they are back, in each mode. Where
// handlers run without a lock on the queue, one is in the middle of an event.
// holds: node-lost-queue (each mode)
func TestQueueIsLostAndComesBack(t *testing.T) {
	t.Parallel()
	modes := maps.Clone(sharing)
	modes["On"] = (*node.Node).On
	modes["OnLeased"] = nil
	locks := map[string]bool{"On express": true, "OnBatch": true}
	for mode, on := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			pool, err := pgxpool.New(t.Context(), db.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pool.Close)
			var log buffer
			reg := prometheus.NewRegistry()
			n := node.New(pool, node.Config{Namespace: ns, Logger: slog.New(slog.NewTextHandler(&log, nil)), Registerer: reg})
			register := on
			if on == nil {
				register = func(n *node.Node, pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
					return n.OnLeased(pattern, func(ctx context.Context, d *nexus.Delivery) error {
						return pgx.BeginFunc(ctx, db.Owner, func(tx pgx.Tx) error { return fn(ctx, tx, d) })
					})
				}
			}
			register(n, "x", effectOnly)
			held, release := make(chan struct{}), make(chan struct{})
			register(n, "held", func(context.Context, pgx.Tx, *nexus.Delivery) error {
				close(held)
				<-release
				return nil
			})
			start(t, n)
			emit(t, db, "x", nil)
			db.Wait(`select count(*) = 1 from public.effect`)

			if !locks[mode] {
				emit(t, db, "held", nil)
				<-held
			}
			db.Exec(`select pgmq.drop_queue('core_events_shop'), pgmq.drop_queue('core_events_shop_dlq')`)
			close(release)
			eventually(t, "readiness", time.Minute, func() bool { return isQueueLost(n.Ready()) })
			if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), db.Pool, "x", nil, nil); !isQueueLost(err) || !errors.Is(err, nexus.ErrNotFound) {
				t.Errorf("emit: %v", err)
			}
			if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), db.Pool, "x", nil, &queue.EmitOptions{Delay: time.Millisecond}); err != nil {
				t.Errorf("emit of what is delayed: %v", err)
			}
			failed := dbtest.Get[int64](db, rollbacks)
			db.Wait(`select (`+rollbacks+`) > $1`, failed+5) // claims that fail
			if err := n.Health(); err != nil {
				t.Errorf("Health: %v", err)
			}
			if got := scrape(t, reg); got["queues_lost shop"] != 2 || got["node_ready shop"] != 0 {
				t.Errorf("queues_lost is %v, node_ready %v", got["queues_lost shop"], got["node_ready shop"])
			}

			db.Exec(`select core.create_namespace('shop')`)
			db.Wait(`select count(*) = 2 from public.effect`)
			emit(t, db, "x", nil)
			db.Wait(`select count(*) = 3 from public.effect`)
			db.Wait(queueEmpty)
			eventually(t, "readiness", time.Minute, func() bool { return n.Ready() == nil })
			checkEffects(t, db, 3)
			for line, want := range map[string]int{"queue tables are missing": 1, "the queue's tables are back": 1, "cannot claim": 0, "cannot renew": 0} {
				if got := strings.Count(log.String(), `msg="`+line); got != want {
					t.Errorf("%q is said %d times, want %d:\n%s", line, got, want, log.String())
				}
			}
		})
	}
}

const rollbacks = `select xact_rollback from pg_stat_database where datname = current_database()`

// A node that starts without its queue registers and waits for it.
// holds: node-lost-queue
func TestNodeStartsWithoutItsQueue(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived)
		values ('core_events_shop', 'x', 7, 'shop', 0, core.now(), '{"eventType": "x", "eventUid": "aaaaaaaa-0000-0000-0000-000000000001"}', core.now(), '0')`)
	db.Exec(`drop table pgmq.q_core_events_shop`)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.On("x", effectOnly)
	start(t, n)
	eventually(t, "readiness", time.Minute, func() bool { return isQueueLost(n.Ready()) })
	other := node.New(db.Pool, node.Config{Namespace: ns})
	other.On("x", effectOnly)
	if _, err := other.Work(t.Context(), 1); !isQueueLost(err) {
		t.Errorf("Work: %v", err)
	}
	db.Exec(`select core.create_namespace('shop')`)
	db.Exec(`select core_node.unpark('shop')`)
	db.Wait(`select count(*) = 1 from public.effect`)
}
