package nexussql_test

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Whatever a program makes when it first needs it is made once by many who need it in the same moment and of whom a third roll back, and
// whoever committed was told of what is there. Who finds it there takes no lock that others would wait for.
// holds: others-first-use, others-unique (runs, messages)
func TestFirstUseByMany(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`create table public.orders (id int primary key);
		create function public.handle(jsonb) returns void language sql security definer set search_path = pg_catalog as '';
		grant execute on function public.handle(jsonb) to nexus_guard`)
	uses := []struct{ name, call, made string }{ // call answers with an id, or with nothing; made has those that there are
		{"namespace", `select case when core.create_namespace('new') is null then '' else '' end`, `select namespace from core.namespaces where namespace = 'new'`},
		{"consumer", `select left(core.create_consumer('shop', 'c', '{x.*}')::text, 0)`, `select name from core.consumers where name = 'c'`},
		{"ordered consumer", `select left(core.create_consumer('shop', 'o', '{x.*}', '{"kind": "ordered", "lanes": 4}')::text, 0)`, `select name from core.consumers where name = 'o'`},
		{"outbox queue", `select left(core.outbox_register_queue('shop', 'pay', 4)::text, 0)`, `select name from core.consumers where name = 'pay'`},
		{"routed consumer", `select left(core_node.require_routed('shop', 'routed')::text, 0)`, `select name from core.consumers where name = 'routed'`},
		{"webhook", `select left(core.create_webhook('shop', 'hook', 'https://shop.example/in', '{x.*}')::text, 0)`, `select name from core.webhooks`},
		{"handler", `select left((core.create_handler('shop', 'go:h')).created::text, 0)`, `select key from core.handlers where key = 'go:h'`},
		{"trigger", `select core.create_trigger('shop', 't', '{"event": {"pattern": "x.*"}}', 'go:t')::text`, `select trigger_id from core.triggers`},
		{"SQL handler", `select left(core.subscribe('shop', 'x.*', 'public.handle(jsonb)', '{"consumer": "fn"}')::text, 0)`, `select name from core.consumers where name = 'fn'`},
		{"workflow", `select core_node.register_workflow('shop', 'w', 1, '[{"name": "a", "kind": "step"}]')::text`, `select def_id from core.workflow_definitions`},
		{"run", `select run_id::text from core.start_workflow('shop', 'w', '1', '{"idempotency_key": "k"}')`, `select run_id from core.workflow_runs`},
		{"message", `select left(message_id::text, 0) from core.outbox_enqueue('shop', 'pay', 'x', 't', 'k', 'once')`, `select id from core_private.lane_messages`},
		{"event", `select event_id::text from core.emit('shop', 'y', '1', '{"dedupe_key": "once"}')`, `select event_id from core.event_log where event_type = 'y'`},
		{"scheduled event", `select core.schedule_event('shop', 'y', '1', '2040-01-01 00:00:00Z', '{"schedule_id": "01900000-0000-7000-8000-00000000cafe"}')::text`, `select schedule_id from core.scheduled_events`},
		{"task", `select core.schedule_task('shop', 'nightly', '0 4 * * *', 'y')::text`, `select task_id from core.scheduled_tasks`},
		{"key", `select left(version::text, 0) from core.kv_set('shop', 'col', 'k', '1', '{"if_absent": true}')`, `select key from core.kv_entries`},
		{"watch", `select core.watch_table('shop', 'public.orders', 'orders')::text`, `select watch_id from core.watched_tables`},
	}
	const sessions = 6
	var meet [64]sync.WaitGroup
	told := make([]map[string]bool, len(uses))
	for i := range uses {
		meet[i].Add(sessions)
		told[i] = map[string]bool{}
	}
	var mu sync.Mutex
	noErrors(t, atOnce(t, db, sessions, func(ctx context.Context, conn *pgx.Conn, session int) error {
		for i, use := range uses {
			meet[i].Done()
			meet[i].Wait()
			err := func() error {
				tx, err := conn.Begin(ctx)
				if err != nil {
					return err
				}
				defer func() { _ = tx.Rollback(ctx) }()
				var id *string
				if err := tx.QueryRow(ctx, use.call).Scan(&id); err != nil || (session+i)%3 == 0 {
					return err
				}
				if err := tx.Commit(ctx); err != nil {
					return err
				}
				if id != nil && *id != "" {
					mu.Lock()
					defer mu.Unlock()
					told[i][*id] = true
				}
				return nil
			}()
			if err != nil {
				t.Errorf("%s: %v", use.name, err)
			}
		}
		return nil
	}))
	for i, use := range uses {
		made := dbtest.Get[[]string](db, `select coalesce(array_agg(made::text), '{}') from (`+use.made+`) m(made)`)
		if len(made) != 1 {
			t.Errorf("%s: there are %v, want one", use.name, made)
		}
		for id := range told[i] {
			if len(made) != 1 || id != made[0] {
				t.Errorf("%s: somebody was told of %s, and there is %v", use.name, id, made)
			}
		}
		// Modes from SHARE UPDATE EXCLUSIVE on are in the way of somebody's writes or of upkeep.
		locks := dbtest.Get[[]string](db, `with used as materialized (`+use.call+` as a)
			select coalesce(array_agg(relation::regclass || ' ' || mode), '{}') from pg_locks, used
			 where pid = pg_backend_pid() and locktype = 'relation' and mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')`)
		if len(locks) > 0 {
			t.Errorf("%s: found again under %v", use.name, locks)
		}
	}
}

// Batches of messages with dedupe keys in any order, a third of which roll back: none ends in a deadlock, and of each key that somebody
// committed there is one message.
// holds: others-deadlocks (outbox queues)
func TestBatchesOfMessagesWithTheSameKeys(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core.outbox_register_queue('shop', 'pay', 4)`)
	var mu sync.Mutex
	committed := map[string]bool{}
	noErrors(t, atOnce(t, db, 6, func(ctx context.Context, conn *pgx.Conn, session int) error {
		r := rand.New(rand.NewSource(int64(session)))
		for round := range 15 {
			var keys []string
			for _, k := range r.Perm(10)[:8] {
				keys = append(keys, fmt.Sprintf("%d-%d", round, k))
			}
			tx, err := conn.Begin(ctx)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `select count(*) from core.outbox_enqueue_batch('shop', 'pay', array_fill('x'::bytea, '{8}'), array_fill('t'::text, '{8}'), $1, $1)`, keys); err != nil {
				return err
			}
			if r.Intn(3) == 0 {
				if err := tx.Rollback(ctx); err != nil {
					return err
				}
				continue
			}
			if err := tx.Commit(ctx); err != nil {
				return err
			}
			mu.Lock()
			for _, k := range keys {
				committed[k] = true
			}
			mu.Unlock()
		}
		return nil
	}))
	if got := dbtest.Get[string](db, `select count(*) || ' ' || count(distinct key) from core_private.lane_messages`); got != fmt.Sprintf("%d %[1]d", len(committed)) {
		t.Errorf("%s messages and keys, want %d of each", got, len(committed))
	}
}
