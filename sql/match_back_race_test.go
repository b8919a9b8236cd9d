package nexussql_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgdev"
)

const (
	looksBack = `select core.create_trigger('shop', 'mail', '{"event": {"pattern": "a.*"}}', 'go:mail', '{"match_back": "beginning"}')`
	lookBack  = `select match_back from core.trigger_status where name = 'mail'`
	fired     = `select coalesce(string_agg(message ->> 'sourceType', ' ' order by message ->> 'sourceType'), '') from pgmq.q_core_events_shop__triggers`
)

// T7: whoever may still emit without knowing of the trigger is waited for, in whatever state its transaction is.
// holds: T7
func TestALookBackWaitsForWhoDoesNotKnowOfTheTrigger(t *testing.T) {
	db := dbtest.New(t)
	repeatable := []string{"begin isolation level repeatable read", "select count(*) from core.namespaces"}
	for name, test := range map[string]struct{ before, during, after []string }{
		"has emitted":                {before: []string{"begin", `select core.emit('shop', 'a.held')`}, after: []string{"commit"}},
		"has a snapshot and no id":   {before: repeatable, after: []string{`select core.emit('shop', 'a.held')`, "commit"}},
		"emits in a batch":           {before: repeatable, after: []string{`select core.emit_batch('shop', '{a.held}', array['1']::jsonb[])`, "commit"}},
		"began after the creation":   {during: []string{"begin", `select core.emit('shop', 'a.held')`}, after: []string{"commit"}},
		"began after it, repeatable": {during: repeatable, after: []string{`select core.emit('shop', 'a.held')`, "commit"}},
		"idle, with a later id":      {during: []string{"begin", "select pg_current_xact_id()"}, after: []string{`select core.emit('shop', 'a.held')`, "commit"}},
	} {
		t.Run(name, func(t *testing.T) {
			db.Namespace("shop")
			looksBackPast(t, func() session { return open(t, db) }, test.before, test.during, test.after)
			db.Exec(`select core.drop_namespace('shop', 'shop', true)`)
			db.Exec(`delete from core.event_log`)
		})
	}
}

// looksBackPast has a trigger created that looks back, beside a transaction that says before, during and after it.
func looksBackPast(t *testing.T, open func() session, before, during, after []string) {
	t.Helper()
	held, creating, at := open(), open(), open()
	get := func(sql string) (got string) {
		t.Helper()
		if err := at.QueryRow(t.Context(), sql).Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	does(t, at, `select core.create_trigger('shop', 'other', '{"event": {"pattern": "never"}}', 'go:mail')`)
	does(t, at, `select core.emit('shop', 'a.before')`)
	for _, sql := range before {
		does(t, held, sql)
	}
	does(t, creating, "begin")
	does(t, creating, looksBack)
	for _, sql := range during {
		does(t, held, sql)
	}
	does(t, creating, "commit")
	does(t, at, `select core.emit('shop', 'a.now')`)
	does(t, at, backfill)
	if got := get(lookBack); got != "waiting" {
		t.Fatalf("the look back is %s", got)
	}
	for _, sql := range after {
		does(t, held, sql)
	}
	does(t, at, backfill)
	if got := get(fired); got != "a.before a.held a.now" {
		t.Errorf("delivered %q (%s)", got, get(lookBack))
	}
}

// T7: so is one that is prepared, which belongs to no session. Nor does what keeps a partition of lanes.
// holds: T7, LN8 (a prepared transaction)
func TestWhatIsPreparedIsWaitedFor(t *testing.T) {
	c := dbtest.Cluster(t, pgdev.Options{Settings: map[string]string{"max_prepared_transactions": "1"}}, dbtest.BuildTemplate)
	connect := func() session {
		conn, err := pgx.Connect(t.Context(), c.URL(pgdev.TestCronDatabase))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return session{conn}
	}
	does(t, connect(), `select core.create_namespace('shop')`)
	looksBackPast(t, connect, []string{"begin", `select core.emit('shop', 'a.held')`, "prepare transaction 'held'"}, nil, []string{"commit prepared 'held'"})

	s := connect()
	for _, sql := range []string{
		`create or replace function core_private.lane_partition_size() returns bigint language sql immutable set search_path = pg_catalog, pg_temp as 'select 10::bigint'`,
		`select core.outbox_register_queue('shop', 'pay', 1)`, `select core_private.maintain_lanes()`,
		`begin`, `select core.outbox_enqueue('shop', 'pay', 'x', 't', 'k')`, `prepare transaction 'in doubt'`,
		`select core.outbox_enqueue_batch('shop', 'pay', array_fill('x'::bytea, '{15}'), array_fill('t'::text, '{15}'))`,
		`select core_private.maintain_lanes()`, `select core_private.maintain_lanes()`,
	} {
		does(t, s, sql)
	}
	const keepers = `select string_agg(concat_ws(' ', partition, kind, name, role_name, state, since is not null), ', ') from core.lane_partitions`
	var kept string
	if err := s.QueryRow(t.Context(), keepers).Scan(&kept); err != nil || kept != "lane_messages_p0 prepared transaction in doubt postgres prepared t" {
		t.Errorf("kept by %q %v", kept, err)
	}
	does(t, s, `rollback prepared 'in doubt'`)
	does(t, s, `select core_private.maintain_lanes()`)
	if err := s.QueryRow(t.Context(), keepers).Scan(&kept); err != nil || kept != "lane_messages_p0 lane f" {
		t.Errorf("then by %q %v", kept, err)
	}
}

// T7: an emit that waits, say for a key, between its look at the namespace and at the triggers goes by what it finds then, and the log says so.
// holds: T7
func TestTheLogSaysWhichTriggersAnEmitMet(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core.create_trigger('shop', 'first', '{"event": {"pattern": "a.*"}}', 'go:mail')`)
	held, emitting := open(t, db), open(t, db)
	const keyed = `select core.emit('shop', 'a.held', '{}', '{"dedupe_key": "k"}')`
	does(t, held, "begin")
	does(t, held, keyed)
	done := make(chan error, 1)
	go func() { done <- emitting.Exec(t.Context(), keyed) }()
	db.Wait(`select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%dedupe_key%' and pid <> pg_backend_pid() and datname = current_database())`)
	db.Exec(looksBack)
	db.Exec(`select core.disable_trigger('shop', 'first')`)
	does(t, held, "rollback")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	db.Exec(`select core.enable_trigger('shop', 'first', '{"match_back": true}')`)
	db.Exec(backfill)
	db.Exec(backfill)
	if got := dbtest.Get[string](db, `select string_agg(message ->> 'trigger', ' ' order by message ->> 'trigger') from pgmq.q_core_events_shop__triggers`); got != "first mail" {
		t.Errorf("delivered by %q", got)
	}
}

// afterOthers stands where somebody else has to have emitted something.
const afterOthers = "wait for others"

// someEmits waits until others have committed a few events since.
func someEmits(ctx context.Context, conn *pgx.Conn) error {
	const count = "select count(*) from core.event_log where event_type = 'a.two'"
	var before, now int
	if err := conn.QueryRow(ctx, count).Scan(&before); err != nil {
		return err
	}
	for now < before+4 {
		if err := conn.QueryRow(ctx, count).Scan(&now); err != nil {
			return err
		}
	}
	return nil
}

// T7: emitters in short, long, rolled-back and REPEATABLE READ transactions. Meanwhile triggers come that look back, are disabled and enabled and replaced, and
// whoever runs a look back is killed half way. Each of them gets each event of the log once that was emitted while its rule held.
// holds: T7, T6
func TestTriggersLookBackUnderTraffic(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core.create_trigger('shop', 'other', '{"event": {"pattern": "never"}}', 'go:mail')`)
	db.Exec(`select core.emit_batch('shop', array_fill('a.old'::text, '{2500}'), array_fill('{}'::jsonb, '{2500}'))`)
	const rounds = 6
	var over atomic.Bool
	noErrors(t, atOnce(t, db, 7, func(ctx context.Context, conn *pgx.Conn, i int) error {
		s := session{conn}
		if i == 0 { // who creates
			defer over.Store(true)
			for n := range rounds {
				for _, sql := range []string{
					fmt.Sprintf(`select core.create_trigger('shop', 'all%d', '{"event": {"pattern": "a.*"}}', 'go:mail', '{"match_back": "beginning"}')`, n),
					fmt.Sprintf(`select core.create_trigger('shop', 'off%d', '{"event": {"pattern": "a.*"}}', 'go:mail')`, n),
					afterOthers,
					fmt.Sprintf(`select core.disable_trigger('shop', 'off%d')`, n), afterOthers, backfill,
					fmt.Sprintf(`select core.enable_trigger('shop', 'off%d', '{"match_back": true}')`, n),
					fmt.Sprintf(`select core.create_trigger('shop', 'off%d', '{"event": {"pattern": "a.*"}}', 'go:mail', '{"replace": true, "consumer": "slow"}')`, n),
				} {
					if sql == afterOthers {
						if err := someEmits(ctx, conn); err != nil {
							return err
						}
						continue
					}
					if err := s.Exec(ctx, sql); err != nil {
						return fmt.Errorf("%s: %w", sql, err)
					}
				}
			}
			return nil
		}
		r := rand.New(rand.NewSource(int64(i)))
		for !over.Load() {
			begin, end := "begin", "commit"
			if i%3 == 0 {
				begin = "begin isolation level repeatable read"
			}
			if r.Intn(4) == 0 {
				end = "rollback"
			}
			for _, sql := range []string{
				begin, "select count(*) from core.namespaces", fmt.Sprintf("select pg_sleep(%g)", r.Float64()/20),
				`select core.emit('shop', 'a.one'), core.emit('shop', 'b.one')`, fmt.Sprintf("select pg_sleep(%g)", r.Float64()/20),
				`select core.emit_batch('shop', '{a.two,b.two}', array_fill('{}'::jsonb, '{2}'))`, end,
			} {
				if err := s.Exec(ctx, sql); err != nil {
					return fmt.Errorf("%s: %w", sql, err)
				}
			}
		}
		return nil
	}))
	// Steps of a few hundred rows, each second one by a session that is killed before it commits.
	for kill := true; dbtest.Get[bool](db, `select exists (select from core_private.backfills where state <> 'done')`); kill = !kill {
		s := open(t, db)
		does(t, s, "begin")
		does(t, s, `select core_private.run_backfill(backfill_id, 700) from core_private.backfills where state <> 'done' order by backfill_id`)
		if kill {
			db.Exec(fmt.Sprintf("select pg_terminate_backend(%d)", s.PgConn().PID()))
			db.Wait(fmt.Sprintf("select not exists (select from pg_stat_activity where pid = %d)", s.PgConn().PID()))
			continue
		}
		does(t, s, "commit")
	}
	db.Wait(`select core.run_sweep('promote') is not null and not exists (select from core.delayed)`)
	for n := range rounds {
		for _, name := range []string{"all", "off"} {
			since := "0"
			if name == "off" { // live at once, and from when it was disabled on again
				since = fmt.Sprintf(`(select min(p.generation) from core_private.trigger_periods p join core.triggers t using (trigger_id) where t.name = 'off%d')`, n)
			}
			got := dbtest.Get[string](db, strings.NewReplacer("{name}", fmt.Sprint(name, n), "{since}", since).Replace(`
				with want as (
				  select e.event_id::text as id from core.event_log e
				   where e.namespace = 'shop' and e.event_type like 'a.%' and coalesce(e.trigger_generation, 0) >= {since}),
				got as (
				  select message ->> 'eventId' as id, count(*) as n
				    from (select * from pgmq.q_core_events_shop__triggers union all select * from pgmq.q_core_events_shop__slow) q
				   where message ->> 'trigger' = '{name}' group by 1)
				select format('%s missed, %s doubled, %s too many', count(*) filter (where g.id is null), count(*) filter (where g.n > 1),
				              count(*) filter (where w.id is null)) from want w full join got g using (id)`))
			if got != "0 missed, 0 doubled, 0 too many" {
				t.Errorf("%s%d: %s", name, n, got)
			}
		}
	}
}
