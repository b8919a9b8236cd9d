// Package bigdb fills a database with as much as an installation holds after some months, for tests of what a look at it reads. It
// writes tables directly, since hundreds of thousands of calls would take too long; what it writes is what those calls would have left.
package bigdb

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Size says how much of everything there is. Half of it is of namespace ns1; ns2 has been quiet since the first hundredth of the time.
type Size struct {
	Namespaces  int // each with two queues
	Events      int // in the log; a tenth as many failed attempts, scheduled events and entries of the audit log
	DeadLetters int
	Tasks       int // with a hundred slots each
}

// Promised is the size at which every look is to be quick. Tenth is what tests afford: whatever reads in proportion to it shows there, too. It has
// more of the log than that, since who looks for the newest of a namespace reads some pages for each type and month.
var (
	Promised = Size{Namespaces: 200, Events: 1_000_000, DeadLetters: 200_000, Tasks: 10_000}
	Tenth    = Size{Namespaces: 20, Events: 300_000, DeadLetters: 20_000, Tasks: 1_000}
)

// namespaces come 25 in a transaction, which locks their tables until it ends.
const namespaces = 25

// of spreads numbers over namespaces.
const of = `(case when g % 2 = 0 then 1 when g <= $2::int / 100 then 2 when $1::int < 3 then 1 else 3 + g / 2 % ($1::int - 2) end)`

// Fill fills an empty database.
func Fill(t testing.TB, db *dbtest.DB, size Size) {
	t.Helper()
	for from := 1; from <= size.Namespaces; from += namespaces {
		db.Exec("select core.create_namespace('ns' || g) from generate_series($1::int, $2::int) g", from, min(from+namespaces-1, size.Namespaces))
	}
	db.Exec("select core.outbox_register_queue('ns' || g, 'jobs', 4) from generate_series(1, least(20, $1::int)) g", size.Namespaces)
	db.Exec(`select count(*) from generate_series(1, least(20, $1::int)) g
		cross join lateral core.outbox_enqueue_batch('ns' || g, 'jobs', array_fill('x'::bytea, array[500]), array_fill('t'::text, array[500])) m`, size.Namespaces)
	db.Exec(`select core_node.register_workflow('ns' || g, 'flow', 1, '[{"name": "a", "kind": "step"}, {"name": "go", "kind": "signal"}]') from generate_series(1, least(20, $1::int)) g`, size.Namespaces)
	db.Exec(`select count(*) from generate_series(1, least(20, $1::int)) g cross join generate_series(1, 500) n cross join lateral core.start_workflow('ns' || g, 'flow', to_jsonb(n)) r`, size.Namespaces)
	db.Exec(`insert into core_private.workflow_journal (run_id, key, ord, status, result, completed_at) select run_id, 'a', '{1}', 'c', '1', now() from core_private.workflow_runs`)
	db.Exec("select core_node.register_node('ns' || 1 + g % $1::int, 'node' || g, true, array['type.*']) from generate_series(1, 2 * $1::int) g", size.Namespaces)
	for _, fill := range []struct {
		n   int
		sql string
	}{
		{size.Events, `insert into core.event_log (event_id, namespace, event_type, payload, emitted_at, metadata)
			select nextval('core.event_id_seq'), 'ns' || ` + of + `, 'type.' || g % 50, jsonb_build_object('n', g),
			       s.since + (s.till - s.since) * (g / $2::float8), jsonb_build_object('messageId', g)
			  from generate_series(1, $2::int) g cross join (select now() - interval '30 days' as since, now() as till) s`},
		{size.Events / 10, `insert into core.delivery_errors (namespace, consumer, queue_name, msg_id, event_id, event_uid, event_type, attempt, action, reason, error, failed_at)
			select 'ns' || ` + of + `, 'default', 'core_events_ns' || ` + of + `, g, g, gen_random_uuid(), 'type.' || g % 50, 1, 'retry', 'error', 'it failed',
			       now() - interval '7 days' * (1 - g / $2::float8) from generate_series(1, $2::int) g`},
		{size.Events / 10, `insert into core.scheduled_events (schedule_id, namespace, fire_at, due_at, status, event_type, payload, message_timestamp, created_at, content_hash,
			       payload_bytes, event_id, principal, finished_at)
			select gen_random_uuid(), 'ns' || ` + of + `, d.at, d.at, case when d.at > now() then 'pending' else 'appended' end, 'type.' || g % 50, '{}', now(), now(), '',
			       2, case when d.at <= now() then g end, 'somebody', case when d.at <= now() then d.at end
			  from generate_series(1, $2::int) g cross join lateral (select now() + interval '30 days' * (2 * g / $2::float8 - 1) as at) d`},
		{size.Events / 10, `insert into core.audit_log (happened_at, principal, action, namespace)
			select now() - interval '400 days' * (1 - g / $2::float8), 'somebody', 'purge_queue', 'ns' || ` + of + ` from generate_series(1, $2::int) g`},
		{size.Events / 10, `insert into core.delayed (due_at, queue_name, event_type, message)
			select now() + interval '1 day' + g * interval '1 s', 'core_events_ns' || ` + of + `, 'type.' || g % 50, '{}' from generate_series(1, $2::int) g`},
		{size.Events / 10, `insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived)
			select 'core_events_ns' || ` + of + `, 'odd.' || g % 5, g, 'ns' || ` + of + `, 0, now(), '{}', now(), '0' from generate_series(1, $2::int) g`},
		{size.Events / 10, `insert into core.kv_entries (namespace, collection, key, value, version, created_at, updated_at, updated_by)
			select 'ns' || ` + of + `, 'c', 'user/' || g % 100 || '/' || g, '{}', g, now(), now(), 'somebody' from generate_series(1, $2::int) g`},
		{size.Events / 100, `insert into core.inbox (inbox_id, namespace, target, state, requested_by, requested_at, expires_at, xact_id)
			select gen_random_uuid(), 'ns' || ` + of + `, 'go:x', 'waiting', 'somebody', now(), now() + interval '5 min', '3' from generate_series(1, $2::int) g`},
		{size.DeadLetters, `insert into core.dead_letters (namespace, consumer, event_type, source_kind, source_ref, queue_name, msg_id, event_uid, payload, attempts, failed_at,
			       reason, last_error, status, resolution, resolved_at, resolved_by)
			select 'ns' || ` + of + `, 'default', 'type.' || g % 50, 'delivery', jsonb_build_object('queue', 'core_events_ns' || ` + of + `, 'msgId', g),
			       'core_events_ns' || ` + of + `, g, gen_random_uuid(), '{}', 10, now() - interval '30 days' * (1 - g / $2::float8), 'reason ' || g % 3, 'it failed',
			       case when g % 10 = 0 then 'resolved' else 'pending' end, case when g % 10 = 0 then 'discarded' end, case when g % 10 = 0 then now() end,
			       case when g % 10 = 0 then 'somebody' end
			  from generate_series(1, $2::int) g`},
		{size.Tasks, `insert into core.scheduled_tasks (namespace, name, cron_expression, event_type, overlap, registered_by, spec, next_slot, next_run_at, last_slot, last_run_at)
			select 'ns' || ` + of + `, 'task' || g, '0 3 * * *', 'type.' || g % 50, 'allow', 'nexus_owner', s.spec, n.at, n.at, now(), now()
			  from generate_series(1, $2::int) g cross join (select core_private.compile_cron('0 3 * * *', 'x') as spec) s
			 cross join lateral (select now() + interval '1 day' * (g / $2::float8) as at) n`},
		{100, `insert into core.task_slots (task_id, slot, namespace, status, event_id, event_uid, recorded_at, lateness)
			select t.task_id, date_trunc('minute', now()) - g * interval '1 hour', t.namespace, case when g % 7 = 0 then 'skipped' else 'fired' end,
			       case when g % 7 > 0 then g end, case when g % 7 > 0 then t.task_id end, now(), '1 s'
			  from core.scheduled_tasks t cross join generate_series(1, $2::int) g where $1::int > 0`},
		{2, `insert into core.task_runs (task_id, namespace, ran_at, ran_by, event_id, event_uid)
			select t.task_id, t.namespace, now() - g * interval '1 hour', 'somebody', g, t.task_id
			  from core.scheduled_tasks t cross join generate_series(1, $2::int) g where $1::int > 0`},
	} {
		// What triggers would check has been checked, and pg_cron gets no thousands of jobs.
		err := pgx.BeginFunc(t.Context(), db.Owner, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "set local session_replication_role = replica"); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), fill.sql, size.Namespaces, fill.n)
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", fill.sql, err)
		}
	}
	db.Exec(`do $$ declare q record; begin
		for q in select queue_name from core.queues loop
			execute format('insert into pgmq.%I (vt, message, headers) select now(), jsonb_build_object(''eventType'', ''type.1'', ''eventId'', g), ''{}''
				from generate_series(1, $1) g', 'q_' || q.queue_name) using case q.queue_name when 'core_events_ns1' then 20000 else 20 end;
		end loop; end $$`)
	db.Exec("vacuum analyze")
}
