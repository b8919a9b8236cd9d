package nexussql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// actor is a session of a role of its own. Roles belong to the cluster, so their names are those of the test.
func actor(t *testing.T, db *dbtest.DB, name string, duties ...string) *pgx.Conn {
	t.Helper()
	db.Exec("create role " + name + " login")
	t.Cleanup(func() {
		_, err := db.Owner.Exec(context.Background(), "drop owned by "+name+"; drop role "+name, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Error(err)
		}
	})
	for _, d := range duties {
		db.Exec("grant " + d + " to " + name)
	}
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "set session authorization "+name); err != nil {
		t.Fatal(err)
	}
	return conn
}

func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// where is what a session waited for when its patience ended.
func where(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Where
	}
	return ""
}

// I5: in a restricted namespace the main job goes on beside whatever a login without any role, or one with every duty but no grant,
// does in a transaction that it leaves open: advisory locks, calls for all namespaces, table locks.
// holds: I5-strangers
func TestStrangersKeepNobodyWaiting(t *testing.T) {
	db := dbtest.New(t)
	stranger := actor(t, db, "t_stranger")
	outsider := actor(t, db, "t_outsider", "nexus_consumer", "nexus_producer", "nexus_operator")
	insider := actor(t, db, "t_insider", "nexus_consumer", "nexus_producer")
	db.Namespace("open")
	const squat = `select count(pg_advisory_xact_lock(hashtext(a), hashtext(b)))
		  from unnest(array['nexus', 'nexus', 'nexus', 'nexus', 'nexus', 'nexus namespace'], array['tick', 'delayed', 'namespaces', 'nodes', 'cron', $$NS$$]) u(a, b);
		select pg_advisory_xact_lock(hashtextextended(k, 0)) from unnest(array['core_private.timezones', 'core.apply_tasks web']) k;
		select pg_advisory_xact_lock_shared((l.classid::bigint << 32) | l.objid::bigint) from pg_locks l where l.locktype = 'advisory'`
	for i, c := range []struct {
		name  string
		who   *pgx.Conn
		hold  string // NS and QUEUE are those of the case
		raise string // refused as
		named string // in core.blockers
	}{
		{"advisory locks", stranger, squat, "", ""},
		{"advisory locks of an express batch", stranger, `select pg_advisory_xact_lock((l.classid::bigint << 32) | l.objid::bigint)
			from pg_locks l where l.locktype = 'advisory' and l.pid <> pg_backend_pid()`, "", ""},
		{"promote_delayed", outsider, "select core_node.promote_delayed()", "", ""},
		{"tick", outsider, "select core.tick()", "", "lock tick"},
		{"fire_due", outsider, "select core_node.fire_due()", "", ""},
		{"fire_due_events", outsider, "select core.fire_due_events()", "", ""},
		{"reap_nodes", outsider, "select core_node.reap_nodes()", "", ""},
		{"wait_for_wake", outsider, "select core_node.wait_for_wake('{QUEUE,timers}', '1 min')", "", ""},
		{"wait_for_sql", outsider, "select core_node.wait_for_sql('NS', '1 min')", "NX402", ""},
		{"apply_tasks", outsider, "select core.apply_tasks('web', '[]')", "", ""},
		{"a node id", outsider, "select core_node.register_node('open', 'host NS', false, '{x}')", "NX006", ""},
		{"a node id that is taken", outsider, "select core_node.register_node('open', 'host-NS', false, '{x}')", "", ""},
		{"lock the queue", outsider, "lock table pgmq.q_QUEUE in access exclusive mode", "42501", ""},
		{"lock the queue a little", outsider, "lock table pgmq.q_QUEUE in row exclusive mode", "42501", ""},
		{"lock the archive", outsider, "lock table pgmq.a_QUEUE in share mode", "42501", ""},
		{"lock the dead letters' queue", outsider, "lock table pgmq.q_QUEUE_dlq in exclusive mode", "42501", ""},
		{"lock rows of the queue", outsider, "select from pgmq.q_QUEUE for update", "42501", ""},
		{"lock the namespaces", outsider, "select from core.namespaces for share", "42501", ""},
		{"lock the log", outsider, "lock table core.event_log in row share mode", "42501", ""},
		{"look at everything", outsider, `select from pgmq.q_QUEUE; select * from core.queue_metrics; select * from core.event_log; select * from core.sweep_status;
			select * from core.unhandled_types; select * from core.node_status; select core_node.metrics_sample('open')`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := fmt.Sprintf("shop%d", i)
			queue := "core_events_" + ns
			put := strings.NewReplacer("NS", ns, "QUEUE", queue).Replace
			db.Exec(put(`select core.create_namespace('NS', '{"restricted": true, "unhandled_after": "1 s"}')`))
			for _, duty := range []string{"consume", "produce", "operate", "read"} {
				db.Exec(`select core.grant_namespace($1, 't_insider', $2)`, ns, duty)
			}
			exec := func(who *pgx.Conn, sql string) {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				if _, err := who.Exec(ctx, put(sql), pgx.QueryExecModeSimpleProtocol); err != nil {
					t.Fatalf("%s: %v\n%s", sql, err, where(err))
				}
			}
			want := func(what string, n int, sql string) {
				t.Helper()
				if got := dbtest.Get[int](db, put(sql)); got != n {
					t.Errorf("%s: %d, want %d", what, got, n)
				}
			}
			const own = `select node_id from core.nodes where namespace = 'NS' and node_id like 'host%'`
			exec(insider, "set lock_timeout = '10 s'")
			exec(insider, `select core.emit('NS', 'x', '1', '{"dedupe_key": "k"}')`)
			exec(insider, `select core.emit('NS', 'late', '1', '{"delay": "1 s"}')`)
			exec(insider, `select core.emit('NS', 'nobody', '1')`)
			exec(insider, `select core.schedule_event('NS', 'once', '1', core.now() + '1 s')`)
			exec(insider, `select core_node.register_node('NS', 'quiet-NS', true, '{x}')`)
			db.Advance(8 * 24 * time.Hour)
			// pg_cron runs: whoever may tick steps in for the whole database when it has not for long.
			db.Exec(`update core_private.sweeps set last_started_at = core.now() where driven_by = 'job'`)

			exec(c.who, "begin")
			defer func() { _, _ = c.who.Exec(context.Background(), "rollback") }()
			_, err := c.who.Exec(t.Context(), put(c.hold), pgx.QueryExecModeSimpleProtocol)
			if code(err) != c.raise {
				t.Fatalf("%s: %v, want code %q", c.hold, err, c.raise)
			}
			if err == nil && c.named != "" {
				db.Wait(`select exists (select from core.blockers where kind = 'lock' and pid = $1 and name like '%' || $2 || '%')`,
					c.who.PgConn().PID(), c.named)
			}

			exec(insider, `select core.emit('NS', 'x', '2', '{"dedupe_key": "k"}')`)
			exec(insider, `select core_node.promote_delayed()`)
			want("delayed events on the queue", 1, `select count(*)::int from pgmq.q_QUEUE where message ->> 'eventType' = 'late'`)
			exec(insider, `select core_node.fire_due()`)
			want("scheduled events emitted", 1, `select count(*)::int from core.event_log where namespace = 'NS' and event_type = 'once'`)
			exec(insider, `select core_node.register_node('NS', 'host-NS', false, '{x}')`)
			exec(insider, fmt.Sprintf(`select core.touch_node_heartbeat('%s')`, dbtest.Get[string](db, put(own))))
			exec(insider, `select core_node.wait_for_wake('{QUEUE,timers}', '10 s')`)
			want("flags", 2, `select count(*)::int from core_private.wake_flags f where f.waiting_until > core.now() and (f.key = 'QUEUE' or f.key = 'timers t_insider')`)
			exec(insider, `select core.apply_tasks('web', '[{"namespace": "NS", "name": "a", "cron_expression": "0 0 29 2 *", "event_type": "y"}]')`)
			exec(insider, `select core_node.claim_batch('QUEUE', '{x}', '{0}', 1, p_key => 1, p_within => '10 s')`)
			exec(insider, `with c as (select * from core_node.claim('QUEUE', '{x}', '{0}', 10, '30 s'))
				select core_node.settle('QUEUE', 'n', array_agg(msg_id), array_agg(read_ct), array_agg(last_read_at)) from c where outcome = 'claimed'`)
			want("events left", 3, `select count(*)::int from pgmq.q_QUEUE`)

			// Sweeps go on as well, once it shows that somebody sits on them.
			db.Advance(2 * time.Hour)
			exec(insider, fmt.Sprintf(`select core.touch_node_heartbeat('%s')`, dbtest.Get[string](db, put(own))))
			db.Exec(`set statement_timeout = '2 min'; select core.tick()`, pgx.QueryExecModeSimpleProtocol)
			want("nodes that count as alive", 1, `select count(*)::int from core.nodes where namespace = 'NS' and state not in ('lost', 'stopped')`)
			if left := column(t, db, put(`select message ->> 'eventType' from pgmq.q_QUEUE`)); len(left) > 0 {
				t.Errorf("events that nobody handles on the queue: %q; the sweeps: %s", left, dbtest.Get[string](db, `select coalesce(string_agg(name || ' ' || last_error, ', '), '') from core.sweep_status`))
			}
		})
	}
}

// H3: a batch is alive as long as its transaction, whoever looks.
// holds: I5-strangers
func TestABatchLivesAsLongAsItsTransaction(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core.emit('shop', 'x') from generate_series(1, 4)`)
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	var xact int64
	err = tx.QueryRow(t.Context(), `select msg_id from core_node.claim_batch('core_events_shop', '{x}', '{0}', 2, p_key => 0, p_within => '1 min') where outcome = 'window'`).Scan(&xact)
	if err != nil {
		t.Fatal(err)
	}
	const open = `select leases from core_node.open_express('core_events_shop', 'n', $1, $2)`
	if dbtest.Get[bool](db, open, xact, []int64{1, 2}) {
		t.Error("the first batch has to use leases")
	}
	db.Advance(time.Hour)
	if dbtest.Get[bool](db, open, xact, []int64{3, 4}) || dbtest.Get[int](db, `select core_private.sweep_express()::int`) != 0 {
		t.Error("a batch whose transaction runs counts as dead")
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !dbtest.Get[bool](db, open, xact, []int64{3, 4}) {
		t.Error("a batch whose transaction has ended is not noticed")
	}
}

// P1: old months are dropped beside a reader who has left a transaction open: that fails, coded and with his name, and nobody who emits
// waits for it. A transaction that emits meanwhile is no hindrance for longer than it lasts.
// holds: P1-retention
func TestRetentionBesideAReader(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`create table core.event_log_p_old partition of core.event_log for values from ('2019-01-01 00:00:00+00') to ('2019-02-01 00:00:00+00');
		alter table core.event_log_p_old owner to nexus_owner`)
	reader, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Rollback(context.Background()) }()
	var pid int
	if err := reader.QueryRow(t.Context(), `select pg_backend_pid() from (select count(*) from core.event_log) e`).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	emitted := make(chan error, 1)
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	go func() {
		// Whoever queued behind a lock that waits for three seconds would run into this.
		_, err := conn.Exec(ctx, "set lock_timeout = '1 s'")
		for err == nil && ctx.Err() == nil {
			_, err = conn.Exec(ctx, "select core.emit('shop', 'x')")
		}
		emitted <- err
	}()
	for range 3 {
		db.Exec(`select core.run_sweep('partitions')`)
		if got := dbtest.Get[string](db, `select coalesce(last_error, '') from core.sweep_status where name = 'partitions'`); !strings.HasPrefix(got, "55P03 ") || !strings.Contains(got, fmt.Sprintf("pid %d ", pid)) {
			t.Errorf("the sweep says %q, want 55P03 and pid %d", got, pid)
		}
	}
	if err := reader.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.Wait(`select core.run_sweep('partitions') is not null and to_regclass('core.event_log_p_old') is null`)
	cancel()
	if err := <-emitted; code(err) != "" && code(err) != "57014" {
		t.Errorf("an emit beside it: %v", err)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.event_log`); n < 10 {
		t.Errorf("%d events were emitted beside it", n)
	}
}

// I5: in an open namespace, too, whoever registers or waits in a transaction that stays open keeps nobody else from either.
// holds: I5
func TestAnOpenRegistrationKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	first := actor(t, db, "t_registers", "nexus_consumer")
	second := actor(t, db, "t_registers_too", "nexus_consumer")
	tx, err := first.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	for i, call := range []string{
		`select from core_node.register_node('shop', 'node-%d', true, array['*'], '{}')`,
		`select core_node.wait_for_wake(array['core_events_shop', 'timers'], '1 minute') /* %d */`,
		`select core_node.unpark('shop') /* %d */`,
	} {
		if _, err := tx.Exec(t.Context(), fmt.Sprintf(call, 0)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if _, err := second.Exec(ctx, fmt.Sprintf(call, i+1)); err != nil {
			t.Errorf("%s: %v", call, err)
		}
		cancel()
	}
}
