package cli

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const dropMonth = `do $$ declare p text; begin
	select partition_name into p from core.partitions where not is_default order by to_time desc offset 2 limit 1;
	execute format('drop table core.%I', p); end $$`

// databases are broken in a database of a server that is well.
var databases = []harm{
	{check: "schema", name: "a function was edited", found: "edited by hand", sql: "create or replace function core.now() returns timestamptz language sql as 'select now()'"},
	{check: "schema", name: "a function was dropped", found: "edited by hand", sql: "drop function core.emit(text, text, jsonb, jsonb)"},
	{check: "schema", name: "a table was opened", found: "not as installed", sql: "alter table core.event_log disable row level security"},
	{check: "schema", name: "a right was taken away", found: "not as installed", sql: "revoke execute on function core.emit(text, text, jsonb, jsonb) from nexus_producer"},
	{check: "schema", name: "rights were taken from the owner", found: "nexus_owner lacks rights on its own table core.event_log: insert", sql: `revoke insert on core.event_log from nexus_owner`},
	{check: "schema", name: "rights on a queue were taken from the owner", found: "nexus_owner lacks rights on its own table pgmq.q_core_events_shop", sql: `
		select core.create_namespace('shop'); select core.emit('shop', 'a'); revoke all on pgmq.q_core_events_shop from nexus_owner`},
	{check: "schema", name: "rights on pgmq were taken from the owner", found: "on schema pgmq to nexus_owner", sql: `revoke all on schema pgmq from nexus_owner`},
	{check: "schema", name: "an index was dropped and a constraint added", found: "not as installed", sql: "drop index core.event_log_namespace_type_idx; alter table core.event_log add constraint never check (event_type <> 'never')"},
	{check: "schema", name: "an older build", found: "to apply", sql: "update core_private.installed_objects set sha256 = 'x' where path = (select min(path) from core_private.installed_objects where kind = 'function')"},
	{check: "schema", name: "it is gone", found: "not installed", sql: "drop schema core, core_node, core_private cascade"},
	{check: "schema", name: "somebody may create in it", found: "not to be trusted", sql: "grant create on schema core to nexus_reader; grant create on schema pgmq to nexus_reader, public"},
	{check: "schema", name: "somebody's own in it", found: "not to be trusted", do: func(p *patient) {
		login, _ := p.db.As()
		p.exec("grant usage, create on schema core to " + login + "; create function core.theirs() returns int language sql as 'select 1'; alter function core.theirs() owner to " + login)
		p.t.Cleanup(func() { p.exec("revoke all on schema core from " + login) })
	}},
	{check: "schema", name: "somebody's function, view, trigger and policy", found: "to apply", sql: `
		create function core."their own"(int, text[]) returns int language sql as 'select 1'; create view core."Theirs" as select 1 as n;
		create function public.note() returns trigger language plpgsql as 'begin return null; end';
		create trigger "their trigger" after insert on core.namespaces execute function public.note();
		create policy narrow on core.event_log as restrictive using (true)`},
	{check: "pg_partman", name: "it was dropped", found: "not in this database", sql: "drop extension pg_partman cascade"},
	{check: "pg_partman", name: "its functions are gone", found: "its functions are not there", sql: `do $$ declare f regprocedure; begin
		for f in select p.oid::regprocedure from pg_proc p join pg_extension x on x.extnamespace = p.pronamespace where x.extname = 'pg_partman' and p.proname in ('run_maintenance', 'run_maintenance_proc') loop
			execute format('alter extension pg_partman drop routine %s', f);
			execute format('drop routine %s', f);
		end loop; end $$`},
	{check: "default partition", name: "rows of long ago", found: "1 row", sql: `insert into core.event_log (event_id, namespace, event_type, payload, emitted_at) values (1, 'x', 'x', '{}', '1999-01-01')`},
	{check: "partitions ahead", name: "one is missing", found: "missing: ", sql: dropMonth},
	{check: "partitions ahead", name: "other bounds", found: "other bounds", sql: `do $$ declare l record; begin
		select * into l from core.partitions where not is_default order by to_time desc offset 2 limit 1;
		execute format('drop table core.%I', l.partition_name);
		execute format('create table core.other_bounds partition of core.event_log for values from (%L) to (%L)', l.from_time + interval '5 hours', l.to_time); end $$`},
	{check: "partition owners", name: "two belong to a superuser", found: "belongs to postgres", sql: `do $$ declare p record; begin
		for p in select partition_name from core.partitions where not is_default order by to_time limit 2 loop
			execute format('alter table core.%I owner to postgres', p.partition_name); end loop; end $$`},
	{check: "tick", name: "none for a day", found: "last 24h", sql: "update core_private.sweeps set last_started_at = core.now() - interval '1 day'"},
	{check: "tick", name: "never", found: "never", sql: "update core_private.sweeps set last_started_at = null"},
	{check: "sweeps", name: "two failed, one is off", found: "failed 3 times: boom", sql: `update core_private.sweeps set failures = 3, last_error = 'boom' where name in ('reap', 'park');
		update core_private.sweeps set enabled = false where name = 'promote'`},
	{check: "sweeps", name: "one is off", found: "is switched off", sql: "update core_private.sweeps set enabled = false where name = 'reap'"},
	{check: "sweeps", name: "two were deleted", found: "promote is not registered", sql: "delete from core_private.sweeps where name in ('promote', 'park')"},
	{check: "dead letters", name: "replayed", found: "1 dead letter unresolved", do: oneDeadLetter},
	{check: "dead letters", name: "discarded", found: "1 dead letter unresolved", other: true, do: oneDeadLetter},
	{check: "webhooks", name: "one is gone", found: "shop/hook is paused", sql: `select core.create_namespace('shop'); select core.create_webhook('shop', 'hook', 'https://a.example', '{*}');
		select core_node.note_webhook('shop', 'hook', 'status 410', true)`},
	{check: "consumers", name: "two are paused for days", found: "shop/mailer is paused since", sql: `select core.create_namespace('shop'); select core.create_consumer('shop', 'mailer', '{*}'), core.create_consumer('shop', 'stock', '{*}');
		select core.pause_consumer('shop', 'mailer'), core.pause_consumer('shop', 'stock'); ` + asFunctions + `update core.audit_log set happened_at = core.now() - interval '2 days' where target = 'mailer'; delete from core.audit_log where target = 'stock'; reset search_path; reset role`},
	{check: "SQL handlers", name: "nobody may call it", found: "not SECURITY DEFINER", sql: sqlHandlers + `revoke execute on function app.handle(jsonb) from nexus_guard; alter function app.handle(jsonb) security invoker`},
	{check: "SQL handlers", name: "one is not needed", found: "not SECURITY DEFINER", other: true, sql: sqlHandlers + `alter function app.handle(jsonb) security invoker; alter function app.handle(jsonb) reset search_path`},
	{check: "SQL handlers", name: "one is gone", found: "is gone", sql: sqlHandlers + `drop function app.handle(jsonb)`},
	{check: "watched tables", name: "triggers were dropped, disabled and altered", found: "triggers missing nexus_watch_insert", sql: `select core.create_namespace('shop'); create table public.w (id integer primary key, a integer);
		select core.watch_table('shop', 'public.w', 'rows', '{"columns": ["a"], "emit": true}'); drop trigger nexus_watch_insert on public.w; alter table public.w disable trigger nexus_watch_update; drop trigger nexus_watch_delete on public.w;
		create trigger nexus_watch_delete after delete on public.w referencing old table as old_rows for each statement execute function core_node.note_rows('0')`},
	{check: "watched tables", name: "one is off", found: "shop/public.w is off: too many", sql: `select core.create_namespace('shop'); create table public.w (id integer primary key); select core.switch_watch(core.watch_table('shop', 'public.w', 'rows'), false, 'too many')`},
	{check: "lost queues", name: "that of a named consumer", found: "core_events_shop__mailer of namespace shop", sql: `select core.create_namespace('shop'); select core.create_consumer('shop', 'mailer', '{*}'); select pgmq.drop_queue('core_events_shop__mailer')`},
	{check: "lost queues", name: "tables and pgmq's row of two namespaces", found: "core_events_shop of namespace shop", sql: `select core.create_namespace('shop', '{"dedupe_for": "1 h"}'); select core.create_namespace('mall');
		select pgmq.drop_queue('core_events_shop'); delete from pgmq.meta where queue_name = 'core_events_mall_dlq'`},
	{check: "lost queues", name: "rows of the registry", found: "the row in core.queues of core_events_shop of namespace shop", sql: `select core.create_namespace('shop', '{"dedupe_for": "1 h"}'); select core.create_namespace('mall');
		delete from core.queues where queue_name = 'core_events_shop'; delete from core.consumers where namespace = 'mall'`},
	{check: "lost queues", name: "a namespace was deleted", found: "tables of no namespace", sql: `select core.create_namespace('shop'); delete from core.namespaces`},
	{check: "lost queues", name: "a namespace was deleted for good", found: "tables of no namespace", other: true, sql: `select core.create_namespace('shop'); delete from core.namespaces`},
	{check: "queue tables", name: "row security and triggers on two of them", found: "forced row security", sql: `select core.create_namespace('shop'); select core.create_namespace('mall');
		alter table pgmq.q_core_events_shop force row level security; select pgmq.enable_notify_insert('core_events_shop');
		create function public.note() returns trigger language plpgsql as 'begin return null; end';
		create trigger "their trigger" after insert on pgmq.q_core_events_mall execute function public.note()`},
	{check: "publications", name: "two for all tables", found: "for all tables", sql: `create publication everything for all tables; create publication "All of it" for all tables`},
	{check: "stuck leases", name: "two hidden by hand", found: "hidden for more than an hour", sql: `select core.create_namespace('shop'); select core.emit('shop', 'a'), core.emit('shop', 'b'); select pgmq.read('core_events_shop', 100000, 2)`},
	{check: "dead rows", name: "vacuum never came", found: "has 60000", sql: "alter table core.audit_log set (autovacuum_enabled = off)", do: func(p *patient) {
		p.exec("insert into core.audit_log (happened_at, action, namespace, target, principal) select core.now(), 'x', 'x', 'x', 'x' from generate_series(1, 60000); " + asFunctions + "delete from core.audit_log; reset search_path; reset role; select pg_stat_force_next_flush()")
		p.db.Wait("select n_dead_tup >= 60000 from pg_stat_all_tables where relid = 'core.audit_log'::regclass")
	}},
	{check: "locks", name: "two sessions idle in a transaction", found: "AccessExclusiveLock", do: func(p *patient) {
		p.exec("select core.create_namespace('shop'); select core.create_namespace('mall')")
		p.session("begin; lock table pgmq.q_core_events_shop")
		_, operator := p.db.As("nexus_operator")
		p.sessionAs(operator, "begin; lock table pgmq.q_core_events_mall")
		p.db.Advance(time.Minute)
	}},
	{check: "xmin horizon", name: "two sessions with a snapshot", found: "idle in transaction", do: func(p *patient) {
		p.session("begin isolation level repeatable read; select count(*) from core.event_log")
		p.session("begin isolation level repeatable read; select count(*) from core.event_log")
		p.db.Advance(time.Hour)
	}},
	{check: "lost nodes", name: "one was killed a while ago, and one just now", found: "mall$1", sql: `select core.create_namespace('shop'); select core.create_namespace('mall');
		select core_node.register_node('shop', 'shop-1', true, '{}'); update core.nodes set last_heartbeat = core.now() - interval '1 hour'; select core_node.reap_nodes();
		select core_node.register_node('mall', 'mall$1', true, '{}'); update core.nodes set last_heartbeat = core.now() - interval '1 hour'`},
	{check: "last fetch", name: "a node that hears nothing", found: "deaf", do: func(p *patient) {
		p.exec(`select core.create_namespace('shop'); select core_node.register_node('shop', 'deaf', true, '{}');
			update core.nodes set state = 'active', metadata = '{"fetch_age_seconds": 61}'`)
	}, hand: map[string]func(*patient){"see the log": func(p *patient) {
		// Its process: it ends when it is asked to.
		done := make(chan error, 1)
		go func() {
			conn, err := pgx.Connect(context.Background(), p.url)
			if err == nil {
				defer conn.Close(context.Background())
				_, err = conn.Exec(context.Background(), `do $$ begin loop
					update core.nodes set state = 'stopped' where drain_requested_at is not null;
					exit when found; commit; perform pg_sleep(0.01); end loop; end $$`)
			}
			done <- err
		}()
		p.t.Cleanup(func() {
			if err := <-done; err != nil {
				p.t.Error(err)
			}
		})
	}}},
	{check: "pg_cron jobs", name: "two of roles that are gone", found: "stops every job", sql: `insert into cron.job (schedule, command, database, username, active, jobname)
		values ('0 0 1 1 *', 'select 1', 'elsewhere', 'a_role_that_left', false, 'yearly'), ('0 0 1 1 *', 'select 1', 'elsewhere', 'another_that_left', false, 'yearly')`},
	{check: "pg_cron runs", name: "a run failed of its own", found: "boom", sql: `insert into cron.job_run_details (jobid, runid, status, return_message, username)
		select jobid, 1, 'failed', 'ERROR: boom', 'nexus_scheduler' from cron.job where jobname = 'nexus:tick'`, hand: map[string]func(*patient){"the next run that succeeds": func(p *patient) {
		p.exec(`insert into cron.job_run_details (jobid, runid, status, username) select jobid, 2, 'succeeded', 'nexus_scheduler' from cron.job where jobname = 'nexus:tick'`)
	}}},
	{check: "privileges", name: "a superuser asks", found: "is a superuser", only: true, hand: map[string]func(*patient){"give it a password (psql: \\password ": func(p *patient) {
		// What \password does; and a test's role goes with the test.
		role := p.get("select max(rolname)::text from pg_roles where rolname ~ '^app(_[0-9]+)?$'")
		p.exec("alter role " + role + " password 'nexus'")
		p.t.Cleanup(func() { p.exec("drop role " + role) })
		p.looks = as(p.url, role)
	}}},
	{check: "privileges", name: "a stranger asks", found: "has no role of Nexus", only: true, do: func(p *patient) { _, p.looks = p.db.As() }},
	{check: "pg_cron preload", name: "who may see no settings asks", found: "not visible", only: true, do: func(p *patient) { _, p.looks = p.db.As("nexus_reader") }},
	{check: "dead letters", name: "who may not look asks", found: "not visible", only: true, do: func(p *patient) { _, p.looks = p.db.As("nexus_consumer") }},
}

// sqlHandlers subscribes a function of the superuser who asks.
// asFunctions makes what follows look as if a function of Nexus did it: by hand nobody changes what is recorded.
const asFunctions = `set role nexus_owner; set search_path = pg_catalog, pg_temp; `

const sqlHandlers = `create schema app; create function app.handle(p_event jsonb) returns void language plpgsql security definer set search_path = app, pg_temp as $f$ begin end $f$;
	revoke execute on function app.handle(jsonb) from public; grant usage on schema app to nexus_guard; grant execute on function app.handle(jsonb) to nexus_guard;
	select core.create_namespace('shop'); select core.subscribe('shop', '*', 'app.handle(jsonb)');
	`

func oneDeadLetter(p *patient) {
	p.exec(`select core.create_namespace('shop'); select core.emit('shop', 'a')`)
	p.exec(`do $$ declare m record; begin
		select * into m from core_node.claim('core_events_shop', '{a}', '{1}', 1, '30 s') where outcome = 'claimed';
		perform core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', jsonb_build_array(jsonb_build_object(
			'id', m.msg_id, 'ct', m.read_ct, 'at', m.last_read_at, 'action', 'reject', 'reason', 'boom', 'error', 'boom'))); end $$`)
}

// as is the URL of another login.
func as(address, login string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	u.User = url.UserPassword(login, "nexus")
	return u.String()
}

// servers are broken where it takes a superuser of the whole server, or a restart.
var servers = []harm{
	{check: "pg_cron preload", name: "others are preloaded in its place", found: "created, but not preloaded", do: func(p *patient) {
		p.restart(map[string]string{"shared_preload_libraries": `auto_explain, "pg_stat_statements"`})
	}},
	{check: "pg_cron preload", name: "nothing is preloaded", found: "created, but not preloaded", do: func(p *patient) {
		p.exec("alter system reset shared_preload_libraries")
		p.restart(map[string]string{"shared_preload_libraries": ""})
	}},
	{check: "pg_cron", name: "neither created nor preloaded", found: "not in this database", do: func(p *patient) {
		p.exec("drop extension pg_cron cascade")
		p.exec("alter system reset shared_preload_libraries")
		p.restart(map[string]string{"shared_preload_libraries": "auto_explain"})
	}},
	{check: "pg_cron database", name: "it fires elsewhere", found: "cron.database_name is postgres", do: func(p *patient) {
		p.exec("alter system set cron.database_name = 'postgres'")
		p.restart(nil)
	}},
	{check: "dead rows", name: "autovacuum is off", found: "autovacuum is off", do: func(p *patient) {
		p.exec("alter system set autovacuum = off")
		p.exec("select pg_reload_conf()")
		wait(p, "select not current_setting('autovacuum')::bool")
	}},
	{check: "xmin horizon", name: "sessions of others are not visible", found: "not visible", sql: "revoke pg_read_all_stats from nexus_owner"},
	{check: "pg_cron jobs", name: "one is missing, one is theirs, one is nobody's", found: "nexus:tick is missing", sql: `delete from cron.job where jobname = 'nexus:tick';
		insert into cron.job (schedule, command, database, username, jobname) values ('* * * * *', 'select core.tick()', current_database(), 'nexus_owner', 'theirs');
		insert into cron.job (schedule, command, database, username, jobname) values ('* * * * *', 'select core.run_sweep(''former'')', current_database(), 'nexus_scheduler', 'nexus:former')`},
	{check: "nexus:work", name: "it is missing, and there is one of another", found: "nexus:work is missing", sql: `delete from cron.job where jobname = 'nexus:work';
		insert into cron.job (schedule, command, database, username, jobname) values ('* * * * *', 'call core.work_all()', current_database(), 'nexus_scheduler', 'theirs')`},
	{check: "nexus:work", name: "it is switched off", found: "switched off or altered", sql: `update cron.job set active = false where jobname = 'nexus:work'`},
	{check: "pg_cron jobs", name: "the scheduler may not use it", found: "nexus_scheduler may not use", sql: "revoke usage on schema cron from nexus_scheduler, public"},
	{check: "pg_cron runs", name: "the scheduler may not log in", found: "may not log in", sql: "alter role nexus_scheduler nologin connection limit 0"},
	{check: "pg_cron runs", name: "the scheduler has settings", found: "default_transaction_read_only=on", sql: `alter role nexus_scheduler set role = nexus_reader;
		alter role nexus_scheduler in database nexus_cron set default_transaction_read_only = on; alter role nexus_scheduler set search_path = nowhere`},
	{check: "xmin horizon", name: "a slot that nobody reads", found: "replication slot", sql: "select pg_create_logical_replication_slot('nobody_s', 'pgoutput')", do: func(p *patient) {
		p.exec(`do $$ begin for i in 1 .. 100001 loop perform pg_current_xact_id(); commit; end loop; end $$`)
	}},
	{check: "xmin horizon", name: "a prepared transaction that is forgotten", found: "prepared transaction it's", sql: "create table public.theirs (n int)", do: func(p *patient) {
		p.exec("begin; insert into public.theirs values (1); prepare transaction 'it''s theirs'")
		// It is an hour later.
		p.exec(`insert into core_private.tolerated_drift (signature, reason) values ('core_private.now()', 'the test moves it');
			create or replace function core_private.now() returns timestamptz language sql volatile set search_path = pg_catalog, pg_temp
			as 'select clock_timestamp() + interval ''1 hour'' '`)
	}},
	{check: "pg_cron load", name: "more jobs than may run", found: "more that are pending stop pg_cron", slow: true, do: func(p *patient) {
		byConnections(p, "2")
	}},
	{check: "pg_cron load", name: "more jobs of tasks than may run", found: "more that are pending stop pg_cron", slow: true, other: true, do: func(p *patient) {
		jobs := p.get("select count(*)::text from cron.job where active")
		p.exec(`select core.create_namespace('shop'); select core.schedule_task('shop', 't' || i, '0 0 1 1 *', 'a') from generate_series(1, 5) i`)
		byConnections(p, jobs)
	}},
	{check: "schema", name: "roles of Nexus that may too much", found: "not as installed: row security of core.dead_letters", sql: `alter table core.dead_letters disable row level security;
		create role visitor; grant nexus_owner to visitor; alter role nexus_reader createdb login; grant nexus_owner to nexus_reader`},
	{check: "pgmq", name: "one of long ago", found: "1.10.1 is too old", all: true, do: func(p *patient) {
		p.exec("create database bygone template template0")
		p.url = strings.Replace(p.url, "/nexus_cron?", "/bygone?", 1)
		p.exec(`create extension pgmq; update pg_extension set extversion = '1.10.1' where extname = 'pgmq'`)
		p.exec(`do $$ declare f regprocedure; begin
			for f in select p.oid::regprocedure from pg_proc p where p.pronamespace = 'pgmq'::regnamespace and p.proname in ('send_topic') loop
				execute format('alter extension pgmq drop routine %s', f);
				execute format('drop routine %s cascade', f);
			end loop; end $$`)
	}},
	{check: "pgmq", name: "a new database", found: "not in this database", all: true, do: func(p *patient) {
		p.exec("create database fresh template template0")
		p.url = strings.Replace(p.url, "/nexus_cron?", "/fresh?", 1)
	}},
}

// starts are what keeps pg_cron from starting jobs.
var starts = []harm{
	{check: "pg_cron runs", name: "it may not connect", found: "connection failed", slow: true, do: func(p *patient) {
		p.restart(map[string]string{"cron.use_background_workers": "off"})
	}},
	{check: "pg_cron runs", name: "no worker is left for it", found: "background", slow: true, do: func(p *patient) {
		p.restart(map[string]string{"max_worker_processes": "2"})
	}},
}

// byConnections lets pg_cron connect for its jobs, which exceed the limit, until the row is over.
func byConnections(p *patient, limit string) {
	p.t.Cleanup(func() {
		p.exec("alter system reset cron.max_running_jobs")
		p.restart(map[string]string{"cron.use_background_workers": "on", "cron.max_running_jobs": "10"})
	})
	p.restart(map[string]string{"cron.use_background_workers": "off", "cron.max_running_jobs": limit})
}

func wait(p *patient, sql string) {
	p.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for p.get("select ("+sql+")::text") != "true" {
		if time.Now().After(deadline) {
			p.t.Fatalf("still not true after a minute: %s", sql)
		}
	}
}
