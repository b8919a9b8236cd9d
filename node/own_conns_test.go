package node_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
)

// What keeps a node alive has connections of its own: a pool that the application has emptied costs neither its heartbeat nor its leases.
// holds: N7, others-sessions
func TestANodeLivesWhileThePoolIsEmpty(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	cfg := db.Pool.Config()
	cfg.MaxConns = 3
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	n := node.New(pool, node.Config{Namespace: ns, Workers: 1, Lease: patient})
	running, finish := make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(finish) })
	defer end()
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		close(running)
		<-finish
		return effect(ctx, tx, d, "")
	})
	start(t, n)
	emit(t, db, "x", nil)
	<-running
	for range cfg.MaxConns - 1 {
		c, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Release)
	}
	beat := dbtest.Get[time.Time](db, `select last_heartbeat from core.nodes`)
	db.Wait(`select last_heartbeat > $1::timestamptz  from core.nodes`, beat)
	db.Wait(`select vt > last_read_at + interval '4 s' from pgmq.q_core_events_shop`)
	end()
	db.Wait(queueEmpty)
	if got := dbtest.Get[int](db, `select max(attempt) from public.effect`); got != 1 {
		t.Errorf("handled at attempt %d, want the first", got)
	}
}
