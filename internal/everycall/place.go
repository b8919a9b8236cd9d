package everycall

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Place is a namespace and what is in it, by the word that stands for it in calls. The values are SQL literals.
type Place struct {
	Name  string
	words map[string]string
}

// Fill puts the place's values in: {namespace}, {queue}, {event} …
func (p Place) Fill(sql string) string {
	var pairs []string
	for word, value := range p.words {
		pairs = append(pairs, "{"+word+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(sql)
}

// Mask takes them out of an answer again, so that what is said of two places can be compared.
func (p Place) Mask(answer string) string {
	type pair struct{ word, value string }
	var all []pair
	for word, value := range p.words {
		if value, _, _ = strings.Cut(strings.Trim(value, "'"), "'"); len(value) > 2 {
			all = append(all, pair{word, value})
		}
	}
	// The longer first: the namespace's name is part of the others.
	slices.SortFunc(all, func(a, b pair) int { return cmp.Or(len(b.value)-len(a.value), strings.Compare(a.word, b.word)) })
	for _, x := range all {
		answer = strings.ReplaceAll(answer, x.value, "{"+x.word+"}")
	}
	return answer
}

// Unknown is a place that is not there.
func Unknown(name string) Place {
	return Place{name, map[string]string{
		"namespace": quote(name), "queue": quote("core_events_" + name), "dlq": quote("core_events_" + name + "_dlq"),
		"event": "987654321", "uid": "'01900000-0000-7000-8000-00000000dead'", "dead": "987654322", "msg": "987654323", "ct": "1",
		"read_at": "'2026-01-01Z'::timestamptz", "node": quote(name + "-node"), "incarnation": "'01900000-0000-7000-8000-00000000beef'",
		"inbox": "'01900000-0000-7000-8000-00000000b0b0'", "trigger": "'01900000-0000-7000-8000-00000000ba5e'", "http": "'01900000-0000-7000-8000-00000000ba5f'",
		"run": "'01900000-0000-7000-8000-00000000f10e'", "def": "987654325",
		"lane": "987654324", "watch": "9007199254740991", "task": "'01900000-0000-7000-8000-00000000cafe'", "schedule": "'01900000-0000-7000-8000-00000000feed'",
	}}
}

// fill writes something of each kind into the namespace: events that wait, are in flight, delayed, parked and dead, a failed attempt, a
// node, a task with slots and runs, a one-shot event, and entries of the audit log. Every text holds the namespace's name.
const fill = `
do $fill$
declare
	ns    text := {namespace};
	queue text := {queue};
	made  text := ns || '.made';
	task  uuid;
	id    bigint;
begin
	perform core_node.register_node(ns, ns || '-node', true, array[made], jsonb_build_object('broadcasts', jsonb_build_array(ns || '.*')));
	insert into core.broadcasts (namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message)
	values (ns, core_private.cluster_id(), pg_current_xact_id(), 1, gen_random_uuid(), made, core.now(), jsonb_build_object('secret', ns));
	perform core.create_consumer(ns, 'spare', '{never}'), core.create_consumer(ns, 'spareordered', '{never}', '{"kind": "ordered", "lanes": 1}');
	perform core.create_ingress_token(ns, 'sparetoken');
	perform core.create_trigger(ns, 'sparetrigger', '{"event": {"pattern": "never"}}', 'go:spare');
	execute format('create table public.%I (id integer primary key)', ns || '_watched');
	perform setval('core.watched_tables_watch_id_seq', 765000 + nextval('core.watched_tables_watch_id_seq')); -- no other id is like it
	perform core.watch_table(ns, format('public.%I', ns || '_watched')::regclass, 'sparekeys');
	perform core.outbox_register_queue(ns, 'spareoutbox', 1), core.outbox_register_queue(ns, 'spareoutbox2', 1);
	perform core.outbox_enqueue(ns, 'spareoutbox', convert_to(ns, 'UTF8'), 'text/plain', ns);
	perform core_node.register_workflow(ns, 'spareflow', 1, '[{"name": "a", "kind": "step"}]');
	perform core.start_workflow(ns, 'spareflow', jsonb_build_object('secret', ns));
	perform core.kv_set(ns, 'sparekeys', 'sparekey', jsonb_build_object('secret', ns));
	perform core.request(ns, ns || '-handler', jsonb_build_object('secret', ns));
	perform core.create_webhook(ns, 'sparehook', 'https://shop.example/' || ns, '{never}');
	perform core.emit(ns, made, jsonb_build_object('secret', ns));
	select c.msg_id into id from core_node.claim(queue, array[made], '{0}', 1, '1 h') c where c.outcome = 'claimed';
	perform core_private.bury(queue, ns || '-node', array[id], array[1], array[ns || ' reason'], array[ns || ' error']);
	perform core.emit(ns, made, jsonb_build_object('secret', ns), jsonb_build_object('dedupe_key', ns || '-key'));
	perform core_node.claim(queue, array[made], '{0}', 1, '1 h');
	perform core.emit(ns, made, jsonb_build_object('secret', ns));
	perform core.emit(ns, made, jsonb_build_object('secret', ns), '{"delay": "1 h"}');
	perform core.emit(ns, ns || '.odd', jsonb_build_object('secret', ns));
	insert into core.delivery_errors (namespace, consumer, queue_name, msg_id, event_type, attempt, action, error, failed_at)
	values (ns, 'default', queue, 2, made, 1, 'retry', ns || ' error', core.now());
	task := core.schedule_task(ns, 'nightly', '0 3 * * *', made, jsonb_build_object('secret', ns));
	perform core.create_trigger(ns, 'sparedead', '{"dead_letter": {"source": "workflow_step"}}', 'go:spare'), core.create_trigger(ns, 'sparecron', '{"cron": {"task": "nightly"}}', 'go:spare'),
		core.create_trigger(ns, 'sparehttp', '{"http": {"method": "GET", "path": "/spare", "public": true}}', 'go:spare');
	perform core.run_task_now(task);
	perform core.backfill_task(task, core.now() - interval '2 days', core.now());
	perform core.schedule_event(ns, made, jsonb_build_object('secret', ns), core.now() + interval '1 day');
	perform core.drain_node(ns || '-node', ns || ' reason');
	perform core.run_sweep('park');
end $fill$`

// Make creates the namespace.
func Make(t testing.TB, db *dbtest.DB, name string, restricted bool) Place {
	t.Helper()
	p := Unknown(name)
	db.Exec("select core.create_namespace($1, jsonb_build_object('restricted', $2::boolean))", name, restricted)
	db.Exec(p.Fill(fill))
	for word, query := range map[string]string{
		"event":       "select max(event_id)::text from core.event_log where namespace = $1 and event_type = $1 || '.made' and metadata ? 'messageId'",
		"uid":         "select quote_literal(event_uid) from core.event_log where namespace = $1 order by event_id desc limit 1",
		"watch":       "select watch_id::text from core.watched_tables where namespace = $1",
		"lane":        "select max(l.lane_id)::text from core.lane_status l where l.namespace = $1 and l.queue = 'spareoutbox'",
		"run":         "select quote_literal(run_id) from core.workflow_runs where namespace = $1",
		"def":         "select def_id::text from core.workflow_definitions where namespace = $1 and workflow = 'spareflow'",
		"dead":        "select max(dead_letter_id)::text from core.dead_letters where namespace = $1",
		"node":        "select quote_literal(node_id) from core.nodes where namespace = $1",
		"incarnation": "select quote_literal(incarnation) from core.nodes where namespace = $1",
		"task":        "select quote_literal(task_id) from core.scheduled_tasks where namespace = $1",
		"trigger":     "select quote_literal(trigger_id) from core.triggers where namespace = $1 and name = 'sparetrigger'",
		"http":        "select quote_literal(trigger_id) from core.triggers where namespace = $1 and name = 'sparehttp'",
		"inbox":       "select quote_literal(inbox_id) from core.inbox where namespace = $1",
		"schedule":    "select quote_literal(schedule_id) from core.scheduled_events where namespace = $1",
	} {
		p.words[word] = dbtest.Get[string](db, query, name)
	}
	inFlight := "select %s from pgmq.q_core_events_" + name + " where read_ct = 1 and vt > core.now() and $1 <> ''"
	for word, column := range map[string]string{
		"msg": "msg_id::text", "ct": "read_ct::text", "read_at": "quote_literal(coalesce(to_jsonb(q) ->> 'last_read_at', '2026-01-01Z')) || '::timestamptz'",
	} {
		p.words[word] = dbtest.Get[string](db, strings.Replace(strings.Replace(inFlight, "%s", column, 1), " where", " q where", 1), name)
	}
	return p
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
