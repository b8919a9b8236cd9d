package node_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
)

// A claim that sees an old state fails where another one was faster, and a batch that ends so looks like a node's death. Several nodes
// claim from one queue, as a login whose transactions see old states.
// holds: settings
func TestNodesOfALoginThatSeesOldStates(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`alter role ` + dbtest.Login + ` in database ` + db.Owner.Config().ConnConfig.Database + ` set default_transaction_isolation = 'repeatable read'`)
	const nodes, rounds, batch = 4, 15, 40
	for range nodes {
		pool, err := pgxpool.New(t.Context(), db.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		n := node.New(pool, node.Config{Namespace: ns, Workers: 4, Retry: quick})
		n.OnBatch("batch", eachOf(func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "batch") })).Batch = 10
		n.On("single", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
			var isolation string
			if err := tx.QueryRow(ctx, `show transaction_isolation`).Scan(&isolation); err != nil {
				return err
			}
			return effect(ctx, tx, d, isolation)
		})
		n.OnLeased("leased", func(context.Context, *nexus.Delivery) error { return nil })
		start(t, n)
	}
	for range rounds {
		for _, eventType := range []string{"batch", "single", "leased"} {
			db.Exec(`select core.emit_batch('shop', array_fill($1::text, array[$2::int]), array_fill('{}'::jsonb, array[$2::int]))`, eventType, batch)
		}
	}
	db.Wait(queueEmpty)
	checkEffects(t, db, 2*rounds*batch)
	if n := dbtest.Get[int](db, `select count(*)::int from core_private.express_batches where died_at is not null`); n > 0 {
		t.Errorf("%d batches count as ones that a node died of", n)
	}
	if got := dbtest.Get[string](db, `select coalesce(string_agg(distinct error, '; '), '') from core.delivery_errors`); got != "" {
		t.Errorf("failed attempts: %s", got)
	}
	// What handlers see is theirs to say, where the node claims nothing in the same transaction.
	if got := dbtest.Get[string](db, `select string_agg(distinct note, ' ' order by note) from public.effect`); got != "batch repeatable read" {
		t.Errorf("handlers ran at %s", got)
	}
	if got := dbtest.Get[string](db, `select coalesce(string_agg(distinct last_error, '; '), '') from core.sweep_status`); got != "" {
		t.Errorf("sweeps: %s", got)
	}
}
