package nexussql_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/everycall"
)

// unrecorded are the functions of core that the audit log has nothing of, by why that is so.
var unrecorded = map[string]string{
	"they change nothing": `count_dead_letters cron_drift dead_letter_queue_name_for_namespace event_status find_event http_routes kv_get kv_list may_operate next_runs now peek
		preview_dead_letters queue_name_for_namespace require_namespace schema_version test_triggers unfit_runs visible_namespaces workflow_outcome workflow_tree`,
	"programs call them all day, and the log, the row or the run has who it was": `ack append_event_log await_reply cancel_request cancel_scheduled_event emit emit_batch kv_cas kv_delete
		kv_set outbox_enqueue outbox_enqueue_batch reject_event release_event request reschedule_event retry_event run_scheduled_task schedule_event signal_workflow start_workflow take_reply
		touch_node_heartbeat work`,
	"they are upkeep, which does the same by itself":                                     `fire_due_events maintain_partitions repair_cron repair_partitions run_sweep sync_cron_jobs tick`,
	"what a claim ends in is recorded":                                                   `claim_dead_letters extend_dead_letters reject_dead_letter`,
	"a namespace says itself when it was made, and programs make theirs when they start": `create_namespace register_namespace`,
}

// asked is what has to be so for a function to do something, how it is called where everycall's way does nothing, and what it is recorded as where that is another name.
var asked = map[string]struct{ before, call, as string }{
	"accept_workflow": {before: `insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason)
		values ({namespace}, 'workflow_compensation', jsonb_build_object('runId', {run}::uuid), '1', 1, core.now(), 'r')`, as: "accept_workflow by hand resolve_dead_letters"},
	"apply_tasks":         {as: "schedule_task"},
	"backfill_task":       {before: `delete from core.task_slots where namespace = {namespace}`},
	"create_handler":      {before: anSQLFunction, call: `select core.create_handler({namespace}, 'sql:every', '{"function": "public.every(jsonb)"}')`},
	"create_webhook":      {as: "create_consumer create_webhook"},
	"discard_dead_letter": {as: "discard_dead_letters"},
	"drop_handler":        {before: `select core.create_handler({namespace}, 'go:every')`, as: "create_handler drop_handler"},
	"drop_webhook":        {as: "drop_consumer"},
	"enable_trigger":      {before: `update core.triggers set enabled = false where namespace = {namespace}`, as: "by hand enable_trigger"},
	"hand_over_triggers":  {before: `create role t_every in role nexus_operator, nexus_consumer, nexus_producer`, call: `select core.hand_over_triggers(session_user, 't_every', {namespace})`},
	"lane_release":        {before: `select core_node.fetch_lane({lane}, 'every', 1, '1 h')`},
	"lane_resume":         {before: `select core.lane_pause({namespace}, 'spareoutbox', 0)`, as: "lane_pause lane_resume"},
	"lane_skip":           {before: `select core_node.fetch_lane({lane}, 'every', 1, '1 h'); update core_private.lanes set locked_until = core.now() where token is not null`},
	"resolve_dead_letter": {as: "resolve_dead_letters"},
	"resume_consumer":     {before: `select core.pause_consumer({namespace}, 'default')`, as: "pause_consumer resume_consumer"},
	"resume_task":         {before: `select core.pause_task({task})`, as: "pause_task resume_task"},
	"retry_workflow":      {before: `update core_private.workflow_runs set status = 'failed' where run_id = {run}; delete from core_private.workflow_cursors where run_id = {run}`},
	"revoke_namespace":    {before: `select core.grant_namespace({namespace}, 'nexus_reader', 'read')`, as: "grant_namespace revoke_namespace"},
	"run_deliveries_now":  {call: `select core.run_deliveries_now({namespace}, array(select event_id from core.event_log where namespace = {namespace}))`},
	"subscribe":           {before: anSQLFunction, call: `select core.subscribe({namespace}, 'a.*', 'public.every(jsonb)')`, as: "create_consumer subscribe"},
	"switch_watch":        {call: `select core.switch_watch({watch}, false)`},
	"unsubscribe":         {before: anSQLFunction + `; select core.subscribe({namespace}, 'a.*', 'public.every(jsonb)', '{"consumer": "every"}')`, call: `select core.unsubscribe({namespace}, 'every')`, as: "create_consumer subscribe unsubscribe"},
	"unwatch_table":       {call: `select core.unwatch_table('public.shop_watched')`},
	"watch_table":         {before: `create table public.every (id integer primary key)`, call: `select core.watch_table({namespace}, 'public.every', 'every')`},
}

const anSQLFunction = `create function public.every(jsonb) returns void language sql security definer set search_path = pg_catalog as 'select';
	grant execute on function public.every(jsonb) to nexus_guard`

// Whatever a person does to what Nexus keeps is in the audit log, in the transaction that does it. A function that comes to core has to say which it is.
// holds: DL5 (each function of core)
func TestEachActOfAPersonIsRecorded(t *testing.T) {
	db := dbtest.New(t)
	place := everycall.Make(t, db, "shop", false)
	why := map[string]string{}
	for reason, names := range unrecorded {
		for name := range strings.FieldsSeq(names) {
			why[name] = reason
		}
	}
	gone := maps.Clone(why)
	conn := open(t, db)
	before := dbtest.Get[int64](db, `select max(audit_id) from core.audit_log`)
	for _, r := range everycall.Routines(t, db) {
		if _, not := why[r.Name]; r.Schema != "core" || not || r.Name == "lanes_rebase" {
			delete(gone, r.Name)
			continue
		}
		how := asked[r.Name]
		if how.call == "" {
			how.call = "select " + r.Call(place, nil)
		}
		if how.as == "" {
			how.as = r.Name
		}
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		said, what := "", "select coalesce(string_agg(distinct action, ' '), 'nothing') from core.audit_log where audit_id > $1"
		if _, err = tx.Exec(t.Context(), place.Fill(how.before), pgx.QueryExecModeSimpleProtocol); err == nil {
			_, err = tx.Exec(t.Context(), place.Fill(how.call), pgx.QueryExecModeSimpleProtocol)
		}
		if err == nil {
			err = tx.QueryRow(t.Context(), what, before).Scan(&said)
		}
		if err != nil || said != how.as {
			t.Errorf("%s is recorded as %q, not as %q (%v)", r.Key, said, how.as, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name := range gone {
		t.Errorf("%s is not recorded, since %s, and is not there", name, why[name])
	}
	// It has to be the first of its transaction.
	db.Exec(`update core_private.lanes set cluster = 1`)
	if n := dbtest.Get[int](db, `select core.lanes_rebase()`); n == 0 || !dbtest.Get[bool](db, `select exists (select from core.audit_log where action = 'lanes_rebase')`) {
		t.Errorf("%d lanes are rebased, and it is not recorded", n)
	}
}
