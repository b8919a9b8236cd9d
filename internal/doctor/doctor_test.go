package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func examine(t *testing.T, pool *pgxpool.Pool) []Check {
	t.Helper()
	checks, err := Run(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	return checks
}

func named(t *testing.T, checks []Check, name string) Check {
	t.Helper()
	i := slices.IndexFunc(checks, func(c Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no check %q among %v", name, checks)
	}
	return checks[i]
}

func states(checks []Check) map[string]State {
	m := map[string]State{}
	for _, c := range checks {
		m[c.Name] = c.State
	}
	return m
}

const (
	aRun  = `select core.create_namespace('shop'); select core_node.register_workflow('shop', 'order', 1, '[{"name": "a", "kind": "step"}]'); select core.start_workflow('shop', 'order')`
	aNode = `; select core_node.register_node('shop', 'n', true, '{x}', '{}', '{default}'); insert into core_private.node_capabilities (node_id, incarnation, kind, consumer, key)
		select node_id, incarnation, 'workflow', '', 'order#' || (select def_id from core_private.workflow_definitions) from core.nodes`
)

// A fresh database, looked at by its installer. Clones have no pg_cron that fires, tests are superusers.
func TestAFreshDatabase(t *testing.T) {
	db := dbtest.New(t)
	db.Exec("select core.tick()")
	want := map[string]State{
		"connection": OK, "server version": OK, "pgmq": OK, "pg_cron": OK, "pg_cron preload": OK, "pg_cron database": Warn, "pg_partman": OK,
		"privileges": Warn, "schema": OK, "partitions ahead": OK, "partition owners": OK, "default partition": OK, "lost queues": OK, "tick": OK, "pg_cron jobs": OK, "pg_cron runs": OK, "pg_cron load": OK, "sweeps": OK, "lost nodes": OK,
		"dead letters": OK, "webhooks": OK, "consumers": OK, "SQL handlers": OK, "nexus:work": OK, "broadcasts": OK, "lanes": OK, "abandoned executions": OK, "watched tables": OK, "triggers": OK, "workflows": OK, "claims": OK, "queue tables": OK, "xmin horizon": OK, "locks": OK, "dead rows": OK, "wake-ups": OK, "clock": OK, "publications": OK, "stuck leases": OK, "last fetch": OK,
	}
	checks := examine(t, db.Owner)
	if d := cmp.Diff(want, states(checks)); d != "" {
		t.Errorf("%s\n%+v", d, checks)
	}
	for _, c := range checks {
		if c.Why == "" || c.Found == "" || (c.State == OK) != (c.Mend == "") {
			t.Errorf("%+v does not say what it should", c)
		}
	}
}

// The database where pg_cron fires has nothing to complain of but the superuser.
func TestWherePgCronFires(t *testing.T) {
	db := dbtest.Cron(t)
	if c := named(t, examine(t, db.Owner), "pg_cron database"); c.State != OK {
		t.Errorf("%+v", c)
	}
}

// holds: doctor-unseen
func TestOrdinaryLogin(t *testing.T) {
	db := dbtest.New(t)
	checks := examine(t, db.Pool)
	if c := named(t, checks, "privileges"); c.State != OK || !strings.Contains(c.Found, "nexus_consumer, nexus_producer") {
		t.Errorf("%+v", c)
	}
	if c := named(t, checks, "schema"); c.State != Unknown || !strings.Contains(c.Found, "whether it was edited") {
		t.Errorf("%+v", c)
	}
	// It is no reader: that is said, and is no fault of the database.
	if c := named(t, checks, "dead letters"); c.State != Unknown || !strings.Contains(c.Found, "not visible") || !strings.Contains(c.Mend, "nexus_reader") {
		t.Errorf("%+v", c)
	}
	for _, c := range checks {
		if c.State == Broken {
			t.Errorf("%+v", c)
		}
	}
}

// With -short, which is for a second server, a third of them is tried, another one each day.
func TestWhatIsWrongIsFound(t *testing.T) {
	for i, c := range []struct {
		check string
		harm  string
		state State
		found string
		mend  string
	}{
		{"pgmq", "alter type pgmq.message_record rename attribute last_read_at to gone",
			Broken, "too old", "alter extension pgmq update;"},
		{"pg_partman", "drop extension pg_partman cascade", Warn, "not in this database", "create extension if not exists pg_partman"},
		{"pg_cron", "drop extension pg_cron cascade", Warn, "not in this database", "create extension if not exists pg_cron"},
		{"schema", "create or replace function core.now() returns timestamptz language sql as 'select now()'",
			Warn, "core.now", "migrate up --repair"},
		{"schema", "drop view core.upcoming", Broken, "core.upcoming was dropped", "migrate up --repair"},
		{"schema", "drop function core.emit(text, text, jsonb, jsonb)", Broken, "core.emit(text, text, jsonb, jsonb) was dropped", "migrate up --repair"},
		{"schema", "drop table core.delivery_errors cascade", Broken, "dropped: table core.delivery_errors", "pg_restore"},
		{"schema", "drop table core.namespaces cascade", Broken, "dropped: table core.namespaces", "pg_restore"},
		{"schema", "drop schema core, core_node, core_private cascade", Broken, "not installed", "migrate up"},
		{"lost queues", `select core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), core.create_namespace('mall');
			drop table pgmq.a_core_events_mall, pgmq.q_core_events_shop, pgmq.a_core_events_shop`,
			Broken, "missing: core_events_shop of namespace shop, the archive of core_events_mall of namespace mall", "select core.create_namespace('shop');"},
		{"lost queues", `select core.create_namespace('shop'); delete from pgmq.meta where queue_name = 'core_events_shop_dlq'`,
			Warn, "pgmq's row of core_events_shop_dlq", "select core.create_namespace('shop');"},
		{"lost queues", "select core.create_namespace('shop'); delete from core.queues where queue_name = 'core_events_shop'",
			Broken, "missing: the row in core.queues of core_events_shop of namespace shop", "select core.create_namespace('shop');"},
		{"lost queues", "select core.create_namespace('shop'); delete from core.namespaces",
			Broken, "tables of no namespace, which is gone with what it had but those: core_events_shop, core_events_shop_dlq", "select core.create_namespace('shop');"},
		{"partitions ahead", `do $$ declare p text; begin
			select partition_name into p from core.partitions where not is_default order by to_time desc offset 2 limit 1;
			execute format('drop table core.%I', p); end $$`, Warn, "missing: ", "core.run_sweep('partitions')"},
		{"partitions ahead", `do $$ declare p text; begin
			for p in select partition_name from core.partitions where not is_default and to_time > core.now() loop
			execute format('drop table core.%I', p); end loop; end $$`, Broken, "missing: ", "core.run_sweep('partitions')"},
		{"partitions ahead", `do $$ declare l record; begin
			select * into l from core.partitions where not is_default order by to_time desc offset 2 limit 1;
			execute format('drop table core.%I', l.partition_name);
			execute format('create table core.other_bounds partition of core.event_log for values from (%L) to (%L)', l.from_time + interval '5 hours', l.to_time); end $$`,
			Broken, "other bounds than those of a month: other_bounds", "core.repair_partitions()"},
		{"partition owners", `do $$ begin execute format('alter table core.%I owner to postgres',
			(select partition_name from core.partitions where from_time <= core.now() and to_time > core.now())); end $$`, Warn, "belongs to postgres", "owner to nexus_owner;"},
		{"default partition", `insert into core.event_log (event_id, namespace, event_type, payload, emitted_at)
			values (1, 'x', 'x', '{}', '1999-01-01')`, Broken, "1 row", "core.repair_partitions()"},
		{"default partition", `insert into core.event_log (event_id, namespace, event_type, payload, emitted_at)
			select i, 'x', 'x', '{}', '2199-01-01' from generate_series(1, 10010) i`, Broken, "more than 10000 rows", "core.repair_partitions()"},
		{"tick", "update core_private.sweeps set last_started_at = null", Warn, "never", "run a node"},
		{"tick", "update core_private.sweeps set last_started_at = core.now() - interval '5 min'", Warn, "last 5m", "run a node"},
		{"tick", "update core_private.sweeps set last_started_at = core.now() - interval '1 day'", Broken, "last 24h", "run a node"},
		{"sweeps", "update core_private.sweeps set failures = 3, last_error = 'boom' where name = 'reap'",
			Broken, "reap failed 3 times: boom", "core.run_sweep('reap')"},
		{"sweeps", "update core_private.sweeps set enabled = false where name = 'reap'", Warn, "reap is switched off", "set enabled = true where name = 'reap'"},
		{"lost nodes", `select core.create_namespace('shop'); select core_node.register_node('shop', 'n1', true, '{}');
			update core.nodes set last_heartbeat = core.now() - interval '1 hour'`, Warn, "n1", "nexus-node node forget n1 -n shop"},
		{"dead letters", `select core.create_namespace('shop');
			insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason)
			values ('shop', 'delivery', '{}', '{}', 1, core.now(), 'x')`, Warn, "1 dead letter unresolved", "nexus-node dlq replay -n shop --limit 0"},
		{"dead letters", `select core.create_namespace('shop');
			insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason, status, claim_token, deadline, claimed_by)
			values ('shop', 'delivery', '{}', '{}', 1, core.now(), 'x', 'reprocessing', gen_random_uuid(), core.now(), 'mender')`, Warn, "1 dead letter unresolved; 1 claim whose time is over, of mender", "what it had counts as pending"},
		{"schema", `alter table core.dead_letters disable trigger note_update_by_hand; alter table core.audit_log enable trigger keep_rows`,
			Broken, "trigger keep_rows on core.audit_log", "nexus-node migrate up"},
		{"consumers", `select core.create_namespace('shop'); select core.create_consumer('shop', 'mailer', '{*}'); select core.pause_consumer('shop', 'mailer');
			set role nexus_owner; set search_path = pg_catalog, pg_temp; update core.audit_log set happened_at = core.now() - interval '2 days'; reset search_path; reset role`, Warn, "shop/mailer is paused since", "select core.resume_consumer('shop', 'mailer');"},
		{"SQL handlers", `create schema app; create function app.handle(p_event jsonb) returns void language sql security definer set search_path = app, pg_temp as $f$ select $f$;
			revoke execute on function app.handle(jsonb) from public; grant usage on schema app to nexus_guard; grant execute on function app.handle(jsonb) to nexus_guard;
			select core.create_namespace('shop'); select core.subscribe('shop', '*', 'app.handle(jsonb)', '{"consumer": "a"}'); alter function app.handle(jsonb) security invoker`,
			Warn, "shop/a: the function app.handle(jsonb) is not SECURITY DEFINER", "alter function app.handle(jsonb) security definer;"},
		{"watched tables", `select core.create_namespace('shop'); create table public.w (id integer primary key); select core.watch_table('shop', 'public.w', 'rows', '{"ops": ["insert"]}'); drop trigger nexus_watch_insert on public.w`,
			Warn, "shop/public.w: triggers missing nexus_watch_insert", `select core.watch_table('shop', 'public.w', 'rows', '{"ops": ["insert"]}');`},
		{"webhooks", `select core.create_namespace('shop'); select core.create_webhook('shop', 'hook', 'https://a.example', '{*}'); select core_node.note_webhook('shop', 'hook', 'status 410', true)`,
			Warn, "shop/hook is paused: the receiver answered 410 Gone", "select core.resume_consumer('shop', 'hook');"},
		{"webhooks", `select core.create_namespace('shop'); select core.create_webhook('shop', 'hook', 'https://a.example', '{*}'); select core_node.note_webhook('shop', 'hook', 'status 500');
			update core.webhooks set failing_since = failing_since - interval '2 hours'`, Warn, "shop/hook fails since ", "nexus-node webhook list"},
		{"broadcasts", `select core.create_namespace('shop'); select core_node.register_node('shop', 'n1', true, '{}', '{"broadcasts": ["a"]}'); commit; select core.emit('shop', 'a', '1', '{"broadcast": true}');
			update core.broadcasts set emitted_at = emitted_at - interval '6 min'; update core_private.broadcast_cursors set last_error = 'boom'`, Warn, "shop/n1 has not handled a broadcast of 00:06:0", "nexus-node node cursors"},
		{"broadcasts", `select core.create_namespace('shop'); select core_node.register_node('shop', 'n1', true, '{}', '{"broadcasts": ["a"]}'); commit; select core.emit('shop', 'a', '1', '{"broadcast": true}');
			update core.broadcasts set emitted_at = emitted_at - interval '25 h'` + "; select core.run_sweep('broadcasts')", Warn, "shop/n1 has missed 1, which were removed by their age", "--keep-broadcasts"},
		{"broadcasts", `select core.create_namespace('shop'); select core_node.register_node('shop', 'n1', true, '{}', '{"broadcasts": ["a"]}'); commit; select core.emit('shop', 'a', '1', '{"broadcast": true}');
			update core.broadcasts set emitted_at = emitted_at - interval '1 s'` + "; update core_private.broadcast_cursors set cluster = 42, reset_at = core.now(), reset_reason = 'came from server 42'", Warn, "shop/n1 came from server 42", "nexus-node node cursors"},
		{"workflows", aRun + `; update core_private.workflow_runs set status = 'compensation_failed', finished_at = core.now()`, Warn, "shop/order: 1 run half undone", "select core.retry_workflow('0"},
		{"workflows", aRun, Warn, "shop/order: 1 run of version 1, and no live node has the workflow", "start a node that has workflow order"},
		{"workflows", aRun + aNode + `; select core_node.register_workflow('shop', 'order', 2, '[{"name": "b", "kind": "step"}]'); update core_private.node_capabilities set key = 'order#' || (select max(def_id) from core_private.workflow_definitions) where kind = 'workflow'`,
			Warn, "shop/order: 1 run of version 1, which no live node has or fits (definition_mismatch)", "core.workflow_waits.why"},
		{"workflows", aRun + aNode + `; update core_private.workflow_cursors set state = 'P', due_at = null, deaths = 11`, Warn, "shop/order: 1 run parked", "select core.retry_workflow('0"},
		{"workflows", aRun + aNode + `; update core_private.workflow_cursors set due_at = core.now() - interval '6 min'`, Warn, "shop/order: 1 run due for 5m0s and more, and not taken", "core.workflow_waits"},
		{"workflows", aRun + aNode + `; update core_private.workflow_runs set status = 'compensating'; update core_private.workflow_cursors set state = 'S', due_at = null, sql_due_at = core.now() - interval '6 min'`,
			Warn, "shop/order: 1 run due to be undone", "nexus:work"},
		{"lanes", `select core.create_namespace('shop'); select core.outbox_register_queue('shop', 'moves', 2); select core.lane_pause('shop', 'moves', 1)`,
			Warn, "shop/moves lane 1: paused", "select core.lane_resume('shop', 'moves', 1);"},
		{"lanes", `select core.create_namespace('shop'); select core.outbox_register_queue('shop', 'moves', 1); select core.outbox_enqueue('shop', 'moves', 'x', 'text/plain');
			update core_private.lanes set attempts = 3, last_error = 'boom', blocked_since = core.now() - interval '6 min'`, Warn, "shop/moves lane 0: message 1 failed: boom", "core.lane_skip"},
		{"lanes", `select core.create_namespace('shop'); select core.outbox_register_queue('shop', 'moves', 1); select core.outbox_enqueue('shop', 'moves', 'x', 'text/plain');
			update core_private.lane_messages set created_at = core.now() - interval '61 s'`, Warn, "shop/moves: no live node works the queue, and messages wait in 1 lane", "start a node with a processor of queue moves of namespace shop"},
		{"lanes", `select core.create_namespace('shop'); select core.create_consumer('shop', 'ledger', '{a}', '{"kind": "ordered", "lanes": 1}'); select core.emit('shop', 'a');
			update core_private.lane_messages set created_at = core.now() - interval '61 s'`, Warn, "shop/ledger: no live node handles a, and messages wait in 1 lane", "start a node that handles it for consumer ledger of namespace shop"},
		{"lanes", `select core.create_namespace('shop'); select core.outbox_register_queue('shop', 'moves', 1); update core_private.lanes set cluster = 42`,
			Broken, "shop/moves was restored from another server", "select core.lanes_rebase();"},
		{"lanes", `select core.create_namespace('shop'); select core.outbox_register_queue('shop', 'moves', 1); update core_private.lane_partitions p set xid = '3', full_at = core.now() - interval '2 h',
			held_by = (select l.lane_id from core.lane_status l) where p.upper = 1000000`, Warn, "lane_messages_p0, for 02:00:00 by lane 0 of shop/moves", "core.lane_status"},
		{"abandoned executions", `select core.create_namespace('shop'); insert into core.abandoned_executions (inbox_id, namespace, target, status, why, created_at)
			select gen_random_uuid(), 'shop', 'go:price', 200, w, core.now() from unnest(array['nobody waits', 'nobody waits', 'not taken']) w`,
			Warn, "shop/go:price ended 2 times when nobody waited, and 1 replies were not taken", "core.abandoned_executions"},
		{"triggers", `select core.create_namespace('shop'); select core.create_trigger('shop', 'mail', '{"event": {"pattern": "a"}}', 'go:mail'); select core.emit('shop', 'a', '1', '{"depth": 9}')`,
			Warn, "shop/mail: no live node handles go:mail, shop/mail: 1 event lay too deep for it", "select core.disable_trigger('shop', 'mail', true);"},
		{"triggers", `select core.create_namespace('shop'); select core.create_trigger('shop', 'mail', '{"event": {"pattern": "a"}}', 'go:mail'); update core.triggers set registered_by_principal = 4000000000`,
			Warn, "has no right to it any more", "core.hand_over_triggers"},
		{"triggers", `select core.create_namespace('shop'); insert into core.handlers (namespace, key, kind, function, owner, registered_by, created_by, created_at)
			values ('shop', 'sql:gone', 'sql', 'public.gone(jsonb)', 'nexus_owner', 'nexus_owner', 'x', core.now()); select core.create_trigger('shop', 'mail', '{"event": {"pattern": "a"}}', 'sql:gone')`,
			Warn, "the function of sql:gone is gone", "core.handlers"},
		{"claims", `select core.create_namespace('shop'); insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason, status, claim_token, deadline, claimed_by)
			values ('shop', 'task', '1', '1', 1, core.now(), 'r', 'reprocessing', gen_random_uuid(), core.now() - interval '1 min', 'olga')`, Warn, "shop: 1 claim of olga", "core.dead_letter_claims"},
		{"pg_cron jobs", "delete from cron.job where jobname = 'nexus:tick'", Warn, "nexus:tick is missing", "nexus-node cron apply"},
		{"pg_cron jobs", `insert into cron.job (schedule, command, database, username, jobname)
			values ('* * * * *', 'select core.tick()', current_database(), 'nexus_owner', 'theirs')`, Warn, "theirs is foreign_owner: it belongs to nexus_owner", "select cron.unschedule("},
		{"pg_cron jobs", "revoke usage on schema cron from nexus_scheduler, public", Warn, "nexus_scheduler may not use", "grant usage on schema cron"},
		{"pg_cron runs", `delete from cron.job_run_details; insert into cron.job_run_details (jobid, runid, status, return_message, username)
			select jobid, 1, 'failed', 'connection failed', 'nexus_scheduler' from cron.job where jobname = 'nexus:tick'`, Broken, "nexus:tick: connection failed", "pg_hba.conf"},
		{"pg_cron runs", `delete from cron.job_run_details; insert into cron.job_run_details (jobid, runid, status, return_message, username)
			select jobid, 1, 'failed', 'job startup timeout', 'nexus_scheduler' from cron.job where jobname = 'nexus:tick'`, Broken, "startup timeout", "max_worker_processes"},
		{"pg_cron runs", `delete from cron.job_run_details; insert into cron.job_run_details (jobid, runid, status, return_message, username)
			select jobid, 1, 'failed', 'ERROR: boom', 'nexus_scheduler' from cron.job where jobname = 'nexus:tick'`, Warn, "boom", "core.cron_job_runs"},
		{"queue tables", `select core.create_namespace('shop'); alter table pgmq.q_core_events_shop force row level security`,
			Warn, "forced row security on q_core_events_shop", `alter table "pgmq"."q_core_events_shop" no force row level security;`},
		{"queue tables", `select core.create_namespace('shop'); select pgmq.enable_notify_insert('core_events_shop')`,
			Warn, "on q_core_events_shop", "select pgmq.disable_notify_insert('core_events_shop');"},
		{"publications", "create publication everything for all tables", Warn, "everything", "drop publication \"everything\""},
		{"stuck leases", `select core.create_namespace('shop'); select core.emit('shop', 'a'); select pgmq.read('core_events_shop', 100000, 1)`,
			Warn, "core_events_shop 1", "select pgmq.set_vt('core_events_shop', 1::bigint, 0);"},
		{"last fetch", `select core.create_namespace('shop'); select core_node.register_node('shop', 'n1', true, '{}');
			update core.nodes set state = 'active', metadata = '{"fetch_age_seconds": 61}'`, Broken, "n1", "node drain n1"},
		{"locks", "drop view core.blockers; create view core.blockers as select 'lock' as kind, 7 as pid, 'AccessExclusiveLock on pgmq.q_a' as name, 'bi' as role_name, 'report' as application, 'idle in transaction' as state, null::timestamptz as since, interval '1 hour' as age, null::bigint as xmin_age, false as holds_horizon, 0::bigint as dead_rows",
			Warn, "bi report, pid 7, for 1h0m0s: AccessExclusiveLock on pgmq.q_a", "select pg_terminate_backend(7);"},
		{"xmin horizon", "drop view core.blockers; create view core.blockers as select 'session' as kind, 7 as pid, null::text as name, 'bi' as role_name, 'report' as application, 'idle in transaction' as state, null::timestamptz as since, interval '1 hour' as age, 5::bigint as xmin_age, true as holds_horizon, 0::bigint as dead_rows",
			Warn, "held by session bi report, pid 7, idle in transaction, for 1h0m0s", "select pg_terminate_backend(7);"},
		{"xmin horizon", "drop view core.blockers; create view core.blockers as select 'not visible' as kind, null::int as pid, null::text as name, null::text as role_name, null::text as application, null::text as state, null::timestamptz as since, null::interval as age, null::bigint as xmin_age, null::boolean as holds_horizon, 0::bigint as dead_rows",
			Unknown, "not visible", "grant pg_read_all_stats to nexus_owner;"},
	} {
		if testing.Short() && i%3 != time.Now().YearDay()%3 {
			continue
		}
		t.Run(c.check, func(t *testing.T) {
			db := dbtest.New(t)
			db.Exec(c.harm)
			got := named(t, examine(t, db.Owner), c.check)
			if got.State != c.state || !strings.Contains(got.Found, c.found) || !strings.Contains(got.Mend, c.mend) {
				t.Errorf("after: %s\n%+v", c.harm, got)
			}
		})
	}
}

// Of a queue that has lost its table one check complains, and no other one for it.
// holds: node-lost-queue
func TestALostQueueIsOneFinding(t *testing.T) {
	db := dbtest.New(t)
	db.Exec(`select core.create_namespace('shop'); select core.schedule_event('shop', 'x', '1', core.now());
		select core.emit('shop', 'x', '{}', '{"delay": "1 us"}')`)
	db.Exec("select core.tick()")
	before := states(examine(t, db.Owner))
	db.Exec(`drop table pgmq.q_core_events_shop, pgmq.q_core_events_shop_dlq;
		update core_private.sweeps set last_started_at = null`)
	db.Exec("select core.tick()")
	after := examine(t, db.Owner)
	before["lost queues"] = Broken
	if d := cmp.Diff(before, states(after)); d != "" {
		t.Errorf("%s\n%+v", d, after)
	}
}

// Whoever may not see something hears neither that it is well nor that it is not.
// holds: doctor-unseen
func TestWhatIsNotVisibleIsNotWell(t *testing.T) {
	db := dbtest.New(t)
	db.Exec("select core.tick(); select core.create_namespace('shop')")
	_, url := db.As("nexus_reader")
	reader, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	rows := []string{"default partition", "lost nodes", "dead letters", "webhooks", "broadcasts", "stuck leases", "last fetch"}
	for _, c := range []struct {
		name    string
		sql     string
		unknown []string
		ok      []string
	}{
		{"a reader of what is open", "select 1", []string{"schema", "pg_cron preload", "pg_cron database", "pg_cron jobs", "pg_cron load"}, rows},
		{"of a namespace that is closed to it", `select core.create_namespace('vault', '{"restricted": true}')`, rows, []string{"partitions ahead", "tick"}},
		{"of a server whose sessions nobody sees", `create or replace function core_private.blockers() returns table (kind text, pid integer, name text, role_name text, application text, state text, since timestamptz, age interval,
			xmin_age bigint, holds_horizon boolean, dead_rows bigint) language sql as $$ select 'not visible', null::int, null, null, null, null, null::timestamptz, null::interval, null::bigint, null::boolean, 0 $$`,
			[]string{"xmin horizon", "locks"}, nil},
	} {
		db.Exec(c.sql)
		checks := examine(t, reader)
		for _, name := range c.unknown {
			if got := named(t, checks, name); got.State != Unknown || got.Mend == "" {
				t.Errorf("to %s: %+v", c.name, got)
			}
		}
		for _, name := range c.ok {
			if got := named(t, checks, name); got.State != OK {
				t.Errorf("to %s: %+v", c.name, got)
			}
		}
	}
	// To an administrator nothing of it is hidden.
	_, url = db.As("nexus_admin")
	admin, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for _, name := range rows {
		if c := named(t, examine(t, admin), name); c.State != OK {
			t.Errorf("to an administrator: %+v", c)
		}
	}
	// A row that is missing is hidden from nobody: one check complains of it.
	db.Exec("delete from core.queues where namespace = 'shop'")
	for _, pool := range []*pgxpool.Pool{admin, db.Owner} {
		checks := examine(t, pool)
		for _, name := range rows {
			if c := named(t, checks, name); c.State != OK {
				t.Errorf("without rows of core.queues: %+v", c)
			}
		}
		if c := named(t, checks, "lost queues"); c.State != Broken {
			t.Errorf("without rows of core.queues: %+v", c)
		}
	}
}

// Who is on call sees the catalogs: what an owner lacks is found there, and of other rights it is said that they are not visible.
func TestWhoIsOnCallHearsOfRights(t *testing.T) {
	db := dbtest.New(t)
	db.Exec("select core.tick(); select core.create_namespace('shop'); revoke execute on function core.emit(text, text, jsonb, jsonb) from nexus_producer")
	_, url := db.As("nexus_operator", "pg_monitor")
	onCall, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer onCall.Close()
	if c := named(t, examine(t, onCall), "schema"); c.State != Unknown || !strings.Contains(c.Found, "whether the roles have the rights that they were given") || !strings.Contains(c.Mend, "superuser") {
		t.Errorf("%+v", c)
	}
	db.Exec("revoke all on pgmq.q_core_events_shop from nexus_owner")
	checks := examine(t, onCall)
	if c := named(t, checks, "schema"); c.State != Broken || !strings.Contains(c.Found, "nexus_owner lacks rights on its own table pgmq.q_core_events_shop") || !strings.Contains(c.Mend, "nexus-node migrate up") {
		t.Errorf("%+v", c)
	}
	if c := named(t, checks, "stuck leases"); c.State != Unknown || strings.Contains(c.Mend, "grant nexus_reader") {
		t.Errorf("%+v", c)
	}
}

func TestWithoutASchemaNothingElseIsAsked(t *testing.T) {
	db := dbtest.New(t)
	db.Exec("drop schema core, core_node, core_private cascade")
	checks := examine(t, db.Owner)
	if last := checks[len(checks)-1]; last.Name != "schema" || last.State != Broken {
		t.Errorf("the last check is %+v", last)
	}
}

func TestWithoutAConnection(t *testing.T) {
	cfg, err := pgxpool.ParseConfig("postgres://me:hunter2@127.0.0.1:1/app")
	if err != nil {
		t.Fatal(err)
	}
	cfg.ConnConfig.ConnectTimeout = 10 * time.Second
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	checks := examine(t, pool)
	if len(checks) != 1 || checks[0].State != Broken || strings.Contains(checks[0].Found, "hunter2") {
		t.Errorf("%+v", checks)
	}
}

func TestWorst(t *testing.T) {
	for want, checks := range map[State][]Check{
		OK:      {{State: OK}},
		Warn:    {{State: OK}, {State: Warn}, {State: OK}},
		Unknown: {{State: OK}, {State: Unknown}},
		Broken:  {{State: Broken}, {State: Warn}, {State: Unknown}},
	} {
		if got := Worst(checks); got != want {
			t.Errorf("%v make %s", checks, got)
		}
	}
	if Worst(nil) != OK {
		t.Error("no check is no fault")
	}
}
