package node_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/node"
)

func idle(db *dbtest.DB) *node.Node {
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.OnLeased("none", func(context.Context, *nexus.Delivery) error { return nil })
	return n
}

// S13: no pg_cron fires in this database, and a second is less than pg_cron knows.
// holds: S13
func TestNodesFireWithoutPgCron(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	start(t, idle(db))
	db.Exec(`select core.schedule_task('shop', 'tick', '@every 1s', 'tick', '{}', '{"overlap": "allow"}')`)
	db.Exec(`select core.schedule_event('shop', 'once', '{}', core.now() + interval '2 seconds')`)
	// Ticks alone are too rare for that.
	db.Wait(`select exists (select from (select slot - lag(slot, 2) over (order by slot) as three from core.task_slots where status = 'fired') q where three < interval '10 seconds')`)
	db.Wait(`select exists (select from core.event_log where event_type = 'once')`)
	stop := start(t, idle(db)) // a second node changes nothing
	db.Wait(`select count(*) >= 5 from core.task_slots where status = 'fired'`)
	stop()
	if n := dbtest.Get[int](db, `select count(*) - count(distinct slot) from core.event_log where event_type = 'tick'`); n > 0 {
		t.Errorf("%d slots were emitted twice", n)
	}
}

// A node that sleeps until something is due hears of what is due before that.
// holds: S13
func TestTimerIsWoken(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	start(t, idle(db))
	db.Wait(`select waiting_until > core.now() from core_private.wake_flags where key ^@ 'timers '`)
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `listen nexus_wake`); err != nil {
		t.Fatal(err)
	}
	db.Exec(`update core_private.wake_flags set waiting_until = core.now() + interval '1 minute' where key ^@ 'timers '`)
	db.Exec(`select core.schedule_task('shop', 'tick', '@every 1s', 'tick')`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n.Payload == "timers" {
			break
		}
	}
	db.Wait(`select exists (select from core.task_slots)`)
}

// S1: whoever comes, at once: pg_cron's tick, the tasks' own jobs in pg_cron, three nodes, ticks by hand, firing as pg_cron's role, and
// people. Twenty slots of 500 tasks, in the middle of which the minute turns, when pg_cron comes.
// holds: S1 (500 tasks × 20 slots, pg_cron, three nodes, ticks and people at once), S5, S7, others-upkeep
func TestEachSlotOnceWhoeverComes(t *testing.T) {
	t.Parallel()
	const tasks, slots = 500, 20
	db := dbtest.Cron(t)
	t.Cleanup(func() {
		_, _ = db.Owner.Exec(context.Background(), `select core.drop_namespace(namespace, namespace, true) from core.namespaces`)
	})
	// Ledger and log outlive the namespaces of the tests that were here before.
	db.Exec(`delete from core.task_slots`)
	db.Exec(`delete from core.task_runs`)
	db.Exec(`delete from core.event_log`)
	for _, n := range []string{ns, "shop2", "shop3"} {
		db.Namespace(n)
	}
	begin := dbtest.Get[time.Time](db, `select date_trunc('minute', clock_timestamp() + interval '20 seconds') + interval '50 seconds'`)
	db.Exec(`insert into core.scheduled_tasks (namespace, name, cron_expression, event_type, overlap, misfire, backfill, starts_at, ends_at)
		select 'shop' || (array['', '2', '3'])[1 + g % 3], 'task ' || g, '@every 1s', 'x', 'allow', 'backfill', 100, $1::timestamptz, $1::timestamptz + make_interval(secs => $2)
		  from generate_series(1, $3::int) g`, begin, slots-1, tasks)
	ids := make([]string, 0, tasks)
	rows, err := db.Owner.Query(t.Context(), `select task_id::text from core.scheduled_tasks`)
	if err != nil {
		t.Fatal(err)
	}
	ids, err = pgx.AppendRows(ids, rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}

	// All of them begin shortly before the first slot.
	db.Wait(`select clock_timestamp() >= $1::timestamptz - interval '25 seconds'`, begin)
	db.Wait(`select clock_timestamp() >= $1::timestamptz - interval '5 seconds'`, begin)
	for range 3 {
		start(t, idle(db))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	firer := func(setUp string, fire func(conn *pgx.Conn) error) {
		conn, err := pgx.Connect(t.Context(), db.OwnerURL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), setUp); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer conn.Close(context.Background())
			for ctx.Err() == nil {
				if err := fire(conn); err != nil && ctx.Err() == nil {
					t.Errorf("after %q: %v", setUp, err)
					return
				}
			}
		})
	}
	for range 2 {
		firer(`select 1`, func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, `select core.tick()`)
			return err
		})
		firer(`set session authorization nexus_scheduler`, func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, `select core.run_scheduled_task($1::text::uuid)`, ids[rand.IntN(tasks)])
			return err
		})
	}
	runs := 0
	firer(`set role nexus_operator`, func(conn *pgx.Conn) error {
		if runs == 100 {
			<-ctx.Done()
			return nil
		}
		runs++
		_, err := conn.Exec(ctx, `select core.run_scheduled_task($1::text::uuid)`, ids[rand.IntN(tasks)])
		return err
	})
	db.Wait(`select clock_timestamp() >= $1::timestamptz + interval '15 seconds'`, begin)
	db.Wait(`select not exists (select from core.scheduled_tasks where next_run_at is not null)`)
	db.Wait(`select count(*) >= 20 from core.cron_job_runs where task_id is not null and status = 'succeeded' and start_time >= $1::timestamptz`, begin)
	stop()
	wg.Wait()

	for what, sql := range map[string]string{
		"slots in the ledger":          `select count(*) from core.task_slots s where s.status in ('fired', 'caught_up')`,
		"events of slots":              `select count(*) from core.event_log where slot is not null`,
		"slots that have an event":     `select count(distinct (scheduled_task_id, slot)) from core.event_log where slot is not null`,
		"slots with their own event":   `select count(*) from core.task_slots s join core.event_log l using (event_id) where l.slot = s.slot and l.scheduled_task_id = s.task_id and l.event_uid = s.event_uid`,
		"messages that carry a slot":   `select sum(n) from (select count(*) n from pgmq.q_core_events_shop where message ? 'slot' union all select count(*) from pgmq.q_core_events_shop2 where message ? 'slot' union all select count(*) from pgmq.q_core_events_shop3 where message ? 'slot' union all select count(*) from core.parked where message ? 'slot') q`,
		"slots, with those not fired ": `select count(*) from core.task_slots`,
	} {
		if got := dbtest.Get[int](db, sql); got != tasks*slots {
			t.Errorf("%d %s, want %d", got, what, tasks*slots)
		}
	}
	if got := dbtest.Get[int](db, `select count(*) from core.task_runs join core.event_log l using (event_id) where l.slot is null`); got != runs {
		t.Errorf("%d runs by hand, want %d", got, runs)
	}
	if got := dbtest.Get[int](db, `select count(*) from core.cron_job_runs where status = 'failed' and start_time >= $1::timestamptz`, begin.Add(-time.Minute)); got > 0 {
		t.Errorf("%d runs of pg_cron failed", got)
	}
	if got := dbtest.Get[int](db, `select count(*) from core.sweep_status where name = 'tasks' and last_error is not null`); got > 0 {
		t.Error("the sweep failed")
	}
}

// S1, S8: the server dies with a firing under way, and stays down for many slots. Nothing is lost, nothing doubled, and each policy
// does what it says.
// holds: S1, S8, others-missed
func TestServerDownAcrossSlots(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Cluster(t, pgdev.Options{}, dbtest.BuildTemplate)
	pool, err := pgxpool.New(t.Context(), cluster.URL(pgdev.TemplateDatabase))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	exec := func(sql string, args ...any) {
		t.Helper()
		again(t, sql, func() error {
			_, err := pool.Exec(t.Context(), sql, args...)
			return err
		})
	}
	clock := func(at string) {
		t.Helper()
		exec(`create or replace function core_private.now() returns timestamptz language sql volatile as $$ select timestamptz '` + at + `' $$`)
	}
	clock("2026-12-01 11:58:30Z")
	exec(`select core.create_namespace('shop')`)
	for _, misfire := range []string{"skip", "fire_once", "backfill"} {
		exec(`select core.schedule_task('shop', $1, '*/10 * * * *', 'x', '{}', jsonb_build_object('misfire', $1::text) || case $1::text when 'backfill' then '{"backfill": 2}'::jsonb else '{}' end)`, misfire)
	}
	clock("2026-12-01 12:00:05Z")
	exec(`select core_private.fire_tasks(100)`)
	clock("2026-12-01 12:10:05Z")
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var fired int
	if err := tx.QueryRow(t.Context(), `select core_private.fire_tasks(100)`).Scan(&fired); err != nil || fired != 3 {
		t.Fatalf("fired %d, %v; want 3", fired, err)
	}
	if err := cluster.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err == nil {
		t.Fatal("committed on a dead server")
	}
	if err := cluster.Restart(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	clock("2026-12-01 13:05:00Z")
	exec(`select core_private.fire_tasks(100)`)
	exec(`select core_private.fire_tasks(100)`)
	var got string
	again(t, "ledger", func() error {
		return pool.QueryRow(t.Context(), `select string_agg(l, '; ' order by l) from (
			select t.name || ': ' || string_agg(to_char(s.slot at time zone 'UTC', 'HH24:MI') || ' ' || s.status, ', ' order by s.slot) as l
			  from core.task_slots s join core.scheduled_tasks t using (task_id) group by t.name) q`).Scan(&got)
	})
	want := "backfill: 12:00 fired, 12:10 missed, 12:50 caught_up, 13:00 caught_up; fire_once: 12:00 fired, 12:10 missed, 13:00 caught_up; skip: 12:00 fired, 12:10 missed"
	if got != want {
		t.Errorf("ledger\n%s, want\n%s", got, want)
	}
	var events, doubled int
	if err := errors.Join(
		pool.QueryRow(t.Context(), `select count(*) from core.event_log`).Scan(&events),
		pool.QueryRow(t.Context(), `select count(*) - count(distinct event_uid) from core.event_log`).Scan(&doubled)); err != nil {
		t.Fatal(err)
	}
	if events != 6 || doubled != 0 {
		t.Errorf("%d events, %d of them twice; want 6, each once", events, doubled)
	}
}
