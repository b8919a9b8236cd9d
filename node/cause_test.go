package node_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/trigger"
)

// A handler whose SQL writes to a table that emits what fired it ends by depth, in every mode, although no Go names the delivery. Of a batch the deepest
// counts, also after a handler that left the session otherwise.
// holds: T5 (what SQL emits in transactions of nodes)
func TestALoopThroughATableEnds(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`create table public.rows (mode text primary key, n integer not null default 0);
		create function public.changed() returns trigger language plpgsql as $f$ begin perform core.emit('shop', 'row.' || new.mode); return null; end $f$;
		create trigger changed after update on public.rows for each row execute function public.changed();
		grant select, insert, update on public.rows to public`, pgx.QueryExecModeSimpleProtocol)
	modes := []string{"on", "express", "batch", "leasedbatch", "leased"}
	for _, mode := range modes {
		db.Exec("insert into public.rows (mode) values ($1)", mode)
		if _, err := trigger.Create(t.Context(), db.Pool, trigger.Trigger{Namespace: "shop", Name: mode, Target: "go:" + mode, Event: &trigger.Event{Pattern: "row." + mode}}); err != nil {
			t.Fatal(err)
		}
	}
	update := func(ctx context.Context, tx pgx.Tx, mode string) error {
		_, err := tx.Exec(ctx, "update public.rows set n = n + 1 where mode = $1", mode)
		return err
	}
	n := node.New(db.Pool, node.Config{Namespace: "shop"})
	on := n.Triggers()
	on.On("on", func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error { return update(ctx, tx, "on") })
	on.On("express", func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error {
		if _, err := tx.Exec(ctx, "set work_mem = '5MB'"); err != nil { // so that it is put back
			return err
		}
		return update(ctx, tx, "express")
	}).Express = true
	on.OnBatch("batch", func(ctx context.Context, tx pgx.Tx, _ []*nexus.Delivery) error { return update(ctx, tx, "batch") })
	on.OnBatch("leasedbatch", func(ctx context.Context, tx pgx.Tx, _ []*nexus.Delivery) error { return update(ctx, tx, "leasedbatch") }).Leased = true
	on.OnLeased("leased", func(ctx context.Context, _ *nexus.Delivery) error {
		return pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
			if err := queue.Carry(ctx, tx); err != nil {
				return err
			}
			return update(ctx, tx, "leased")
		})
	})
	n.On("*", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })
	stop := start(t, n)
	for _, mode := range modes {
		db.Exec("select core.emit('shop', $1, '{}', '{\"correlation_id\": \"o''brien \\\\\"}')", "row."+mode)
	}
	db.Wait("select count(*) = 5 from core.trigger_drops where why = 'depth'")
	stop()
	for _, mode := range modes {
		if got := dbtest.Get[string](db, `select string_agg(depth || coalesce(' ' || (c.causation_uid = c.before)::text, ''), ', ' order by depth)
			  from (select e.*, lag(e.event_uid) over (order by e.event_id) as before from core.event_log e where e.event_type = $1) c`, "row."+mode); got != "0, 1 true, 2 true, 3 true, 4 true, 5 true, 6 true, 7 true, 8 true, 9 true" {
			t.Errorf("%s: depths and causes %s", mode, got)
		}
	}
	if got := dbtest.Get[string](db, "select string_agg(distinct correlation_id, ' | ') from core.event_log"); got != `o'brien \` {
		t.Errorf("correlations %s", got)
	}
	if err := queue.Carry(t.Context(), db.Pool); err != nil {
		t.Errorf("without a delivery: %v", err)
	}
}
