package node_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// otherRole is one that handlers may take on; it may do nothing in core.
const otherRole = "nexus_test_other"

func withOtherRole(db *dbtest.DB) {
	db.Exec(`do $$ begin create role ` + otherRole + `; exception when duplicate_object or unique_violation then null; end $$`)
	db.Exec(`grant ` + otherRole + ` to ` + dbtest.Login)
	db.Exec(`grant insert, select on public.effect to ` + otherRole)
}

// What one handler does to its session, before it returns nil.
var careless = []string{
	`set default_transaction_read_only = on`,
	`set default_transaction_isolation = 'serializable'`,
	`set statement_timeout = 1`,
	`set local statement_timeout = 1`,
	`set search_path = nowhere`,
	`set local search_path = nowhere`,
	`set role ` + otherRole,
	`set local role ` + otherRole,
	`select set_config('role', '` + otherRole + `', false)`,
	`select set_config('app.tenant', 'one', false)`,
	`set transaction read only`,
	`create temp table leftover (id int)`,
	`select pg_advisory_lock(4711)`,
	`declare leftover cursor with hold for select 1`,
	`prepare leftover as select 1`,
	`listen leftover`,
	`do $$ begin perform set_config('default_transaction_read_only', 'on', false), set_config('lock_timeout', '1', false); end $$`,
}

// untouched lists what a handler does not want to find; it is empty.
const untouched = `select concat_ws(', ', case when current_user <> session_user then 'role ' || current_user end, v.left, case when to_regclass('pg_temp.leftover') is not null then 'table' end,
		(select 'cursor' from pg_cursors where name = 'leftover'), (select 'statement' from pg_prepared_statements where name = 'leftover'),
		(select 'listens' from pg_listening_channels() limit 1))
	from (select string_agg(name || ' = ' || current_setting(name, true), ', ') as left from (values ('search_path', ''), ('transaction_read_only', 'off'),
		('default_transaction_read_only', 'off'), ('transaction_isolation', 'read committed'), ('lock_timeout', '0'), ('app.tenant', '')) s(name, wanted)
		where coalesce(current_setting(name, true), '') <> wanted or name = 'statement_timeout' and current_setting(name) = '1ms') v`

// Three hundred events beside handlers that leave their session in every state: each finds its own as if it were new. Of a leased handler
// that takes connections from the pool of the node, the others have to see as little.
// holds: session
func TestWhatAHandlerLeavesInItsSession(t *testing.T) {
	t.Parallel()
	for name := range everyMode(nil) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			withOtherRole(db)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 2, Base: quick.Base, Max: quick.Max, Jitter: -1}})
			handle := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if d.Type == "bad" {
					var sql string
					if err := d.Decode(&sql); err != nil {
						return err
					}
					if tx == nil {
						_, err := db.Pool.Exec(ctx, sql)
						return err
					}
					_, err := tx.Exec(ctx, sql)
					return err
				}
				var note string
				if err := tx.QueryRow(ctx, untouched).Scan(&note); err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(4711)`); err != nil {
					return err
				}
				return effect(ctx, tx, d, note)
			}
			if mode := transactional()[name]; mode != nil {
				// In turn in one transaction, but not in one call: what a call of a batch handler does to itself is its own affair.
				mode(n, "bad", handle)
				mode(n, "good", handle)
			} else {
				n.OnLeased("bad", func(ctx context.Context, d *nexus.Delivery) error { return handle(ctx, nil, d) })
				n.On("good", handle)
			}
			var batch []queue.Emission
			for i := range 300 {
				batch = append(batch, queue.Emission{Type: "good"})
				if i%10 == 5 {
					sql := careless[i/10%len(careless)]
					if name == "OnLeased" && i/10%len(careless) > 10 {
						continue // session locks and the like are the leased handler's to give back
					}
					batch = append(batch, queue.Emission{Type: "bad", Payload: sql})
				}
			}
			if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Owner, batch); err != nil {
				t.Fatal(err)
			}
			start(t, n)
			db.Wait(queueEmpty)
			checkEffects(t, db, 300)
			if n := dbtest.Get[int](db, `select count(*)::int from public.effect where note <> ''`); n != 0 {
				t.Errorf("%d events found the session of another one: %s", n, dbtest.Get[string](db, `select string_agg(distinct note, '; ') from public.effect`))
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors where event_type = 'good'`); n != 0 {
				t.Errorf("%d attempts of innocent events failed, at first: %s", n, dbtest.Get[string](db, `select error from core.delivery_errors where event_type = 'good' order by error_id limit 1`))
			}
		})
	}
}

// A handler that takes on a role, as row-level security is used, writes as that role; the acknowledgement is the node's and commits with it.
// holds: session
func TestALocalRoleWorksWithTheAck(t *testing.T) {
	t.Parallel()
	for name, mode := range transactional() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			withOtherRole(db)
			db.Exec(`create table public.secured (who name not null default current_user, event_uid uuid not null)`)
			db.Exec(`alter table public.secured enable row level security`)
			db.Exec(`create policy own on public.secured to ` + otherRole + ` using (who = current_user) with check (who = current_user)`)
			db.Exec(`grant insert on public.secured to ` + otherRole)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick})
			mode(n, "*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				sub, err := tx.Begin(ctx)
				if err != nil {
					return err
				}
				for _, sql := range []string{`set local role ` + otherRole, `insert into public.secured (event_uid) values ('` + d.UID.String() + `')`} {
					if _, err := sub.Exec(ctx, sql); err != nil {
						return err
					}
				}
				return sub.Commit(ctx)
			})
			start(t, n)
			for range 20 {
				emit(t, db, "x", nil)
			}
			db.Wait(queueEmpty)
			if n := dbtest.Get[int](db, `select count(distinct event_uid)::int from public.secured where who = $1`, otherRole); n != 20 {
				t.Errorf("%d events wrote under the role, want 20", n)
			}
			if n := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); n != 0 {
				t.Errorf("%d attempts failed, at first: %s", n, dbtest.Get[string](db, `select error from core.delivery_errors order by error_id limit 1`))
			}
		})
	}
}

// A call for several events that has left something lasting in its session, and then fails, cannot be run again in halves there. It must not
// be run for ever in the same way either.
// holds: session
func TestABatchThatFailsInASessionItChanged(t *testing.T) {
	t.Parallel()
	for name, leased := range map[string]bool{"express": false, "under leases": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 2, Base: quick.Base, Max: quick.Max, Jitter: -1}})
			n.OnBatch("*", func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
				for _, d := range batch {
					if _, err := tx.Exec(ctx, `listen leftover`); err != nil {
						return err
					}
					if d.Type == "bad" {
						return errors.New("bad")
					}
					if err := effect(ctx, tx, d, ""); err != nil {
						return err
					}
				}
				return nil
			}).Leased = leased
			for range 10 {
				emit(t, db, "good", nil)
			}
			emit(t, db, "bad", nil)
			start(t, n)
			db.Wait(queueEmpty)
			checkEffects(t, db, 10)
			if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters where event_type = 'bad' and attempts = 2`); n != 1 {
				t.Errorf("%d dead letters of two attempts", n)
			}
		})
	}
}
