package nexussql_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// What each duty may call, beside what sql/roles/grants.sql says, so that a slip there shows. A role is named with everything it
// is a member of counted in. Functions of later packages are added to both.
var mayCall = map[string]string{
	"nexus_reader": `workflow_tree kv_get kv_list cron_drift event_status find_event dead_letter_queue_name_for_namespace next_runs now peek queue_name_for_namespace visible_namespaces`,
	"nexus_producer": `watch_table unwatch_table register_watch forget_watch lock_watched table_blockers note_rows note_row note_truncate start_workflow signal_workflow workflow_outcome outbox_enqueue outbox_enqueue_batch request await_reply take_reply cancel_request kv_cas kv_delete kv_set ingress_token http_routes fire_http append_event_log apply_tasks backfill_task cancel_scheduled_event dead_letter_queue_name_for_namespace delete_task emit
		emit_batch next_runs now pause_task queue_name_for_namespace reschedule_event resume_task run_scheduled_task
		run_task_now schedule_event schedule_task visible_namespaces`,
	"nexus_consumer": `unfit_runs workflow_outcome register_workflow claim_runs claim_unread_runs read_run commit_steps commit_step commit_tx_step end_branch fail_step wait_step fan_out start_child undo_step undo_tx_step extend_runs release_runs set_progress workflow_pace start_runs outbox_register_queue outbox_pace lanes_due fetch_lane settle_lane extend_lanes give_back_lanes claim_ordered settle_ordered look_ordered begin_request answer_request kv_get kv_list claim_broadcast ack_broadcast settle_broadcast holds_broadcast webhooks note_webhook create_consumer claim_batch claim_these close_express node_process recall_express open_express refuse_commit settle_batch metrics_sample must_drain ack claim consumer_settings dead_letter_queue_name_for_namespace extend fire_due fire_due_events heartbeat look next_delayed_due next_runs
		now promote_delayed queue_name_for_namespace reap_nodes register_node replace_capabilities retry_delay settle settle_and_claim tick
		touch_node_heartbeat unpark visible_namespaces wait_for_sql wait_for_wake
		work claim_own run_own fail_own retry_event reject_event release_event subscribe unsubscribe require_routed create_handler drop_handler create_trigger enable_trigger disable_trigger delete_trigger test_triggers match_back`,
	"nexus_operator": `switch_watch signal_workflow workflow_outcome workflow_tree cancel_workflow retry_workflow accept_workflow fork_workflow hand_over_triggers outbox_register_queue lane_pause lane_release lane_resume lane_skip outbox_repartition outbox_replay outbox_drop_queue create_handler drop_handler create_trigger enable_trigger disable_trigger delete_trigger test_triggers match_back kv_get kv_list unsubscribe create_webhook alter_webhook rotate_webhook_secret drop_webhook create_consumer alter_consumer pause_consumer resume_consumer drop_consumer cron_drift event_status find_event append_event_log apply_tasks backfill_task cancel_scheduled_event dead_letter_queue_name_for_namespace delete_task
		discard_dead_letter discard_dead_letters drain_node fire_due forget_node may_operate next_runs now pause_task peek
		claim_dead_letters extend_dead_letters reject_dead_letter expire_dead_letters count_dead_letters cancel_deliveries run_deliveries_now preview_dead_letters purge_queue queue_name_for_namespace replay_events replay_dead_letter replay_dead_letters reschedule_event
		resolve_dead_letter resolve_dead_letters resume_task run_scheduled_task run_task_now schedule_event schedule_task tick
		visible_namespaces`,
	"nexus_admin": `unfit_runs switch_watch watch_table unwatch_table register_watch forget_watch lock_watched table_blockers note_rows note_row note_truncate start_workflow signal_workflow workflow_outcome workflow_tree register_workflow claim_runs claim_unread_runs read_run commit_steps commit_step commit_tx_step end_branch fail_step wait_step fan_out start_child undo_step undo_tx_step extend_runs release_runs set_progress workflow_pace start_runs cancel_workflow retry_workflow accept_workflow fork_workflow hand_over_triggers outbox_enqueue outbox_enqueue_batch outbox_register_queue outbox_pace lanes_due fetch_lane settle_lane extend_lanes give_back_lanes claim_ordered settle_ordered look_ordered lane_pause lane_release lane_resume lane_skip outbox_repartition outbox_replay outbox_drop_queue lanes_rebase request await_reply take_reply cancel_request begin_request answer_request kv_cas kv_delete kv_get kv_list kv_set claim_broadcast ack_broadcast settle_broadcast holds_broadcast ingress_token http_routes fire_http create_ingress_token revoke_ingress_token create_webhook alter_webhook rotate_webhook_secret drop_webhook webhooks note_webhook create_consumer alter_consumer pause_consumer resume_consumer drop_consumer cron_drift repair_cron sync_cron_jobs event_status find_event claim_batch claim_these close_express node_process recall_express open_express refuse_commit settle_batch ack alter_namespace alter_scheduler alter_settings append_event_log apply_tasks backfill_task cancel_scheduled_event claim
		consumer_settings register_namespace dead_letter_queue_name_for_namespace delete_task discard_dead_letter
		discard_dead_letters drain_node drop_namespace emit emit_batch extend fire_due fire_due_events forget_node
		grant_namespace heartbeat look next_delayed_due maintain_partitions may_operate metrics_sample must_drain next_runs now pause_task peek
		claim_dead_letters extend_dead_letters reject_dead_letter expire_dead_letters count_dead_letters cancel_deliveries run_deliveries_now preview_dead_letters promote_delayed purge_queue queue_name_for_namespace reap_nodes register_node replace_capabilities repair_partitions
		replay_events replay_dead_letter replay_dead_letters reschedule_event resolve_dead_letter resolve_dead_letters resume_task retry_delay
		revoke_namespace run_scheduled_task run_sweep run_task_now schedule_event schedule_task settle settle_and_claim tick
		touch_node_heartbeat unpark visible_namespaces wait_for_sql wait_for_wake work claim_own run_own fail_own retry_event reject_event release_event subscribe unsubscribe require_routed create_handler drop_handler create_trigger enable_trigger disable_trigger delete_trigger test_triggers match_back`,
	"nexus_scheduler": `fire_due maintain_partitions run_scheduled_task run_sweep tick`,
	"nexus_guard":     ``,
	"nexus_sql":       `claim_sql fail_sql run_sql work_all claim_undo run_undo fail_undo clean_session`,
}

// What every duty may ask.
const forAll = ` schema_version create_namespace require_namespace`

func init() {
	for _, role := range []string{"nexus_reader", "nexus_producer", "nexus_consumer", "nexus_operator", "nexus_admin"} {
		mayCall[role] += forAll
	}
}

// Tables and views of core that a role may read; nobody may write any, but for operators and
// recurring tasks.
const mayRead = `kv_trigger_details watched_tables watch_status workflow_definitions workflow_runs workflow_steps workflow_waits lane_status lane_partitions outbox_dead_letters outbox_incoming outbox_partitions outbox_processor outbox_status abandoned_executions inbox request_status audit_log blockers broadcast_cursors broadcasts consumer_status consumers cron_drift cron_job_runs cron_jobs dead_letter_claims dead_letter_groups dead_letters delayed delivery_errors error_codes event_log event_trigger_details dead_letter_trigger_details cron_trigger_details trigger_drops trigger_status triggers handlers kv kv_entries lost_queues
	namespace_grants namespaces node_status nodes parked partitions pending_scheduled_events queue_metrics queues replays
	scheduled_events scheduled_tasks scheduler_status settings sql_handlers sweep_status task_runs task_slots task_status unhandled_types
	unresolved_counts unresolved_dead_letters upcoming webhook_status webhooks ingress_tokens`

// holds: I3
func TestEachDutyMayWhatIsListed(t *testing.T) {
	db := dbtest.New(t)
	readers := []string{"nexus_reader", "nexus_operator", "nexus_admin"}
	for role, list := range mayCall {
		t.Run(role, func(t *testing.T) {
			got := column(t, db, `
				select distinct p.proname::text from pg_proc p
				 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace) and has_schema_privilege('`+role+`', p.pronamespace, 'usage')
				   and has_function_privilege('`+role+`', p.oid, 'execute') order by 1`)
			if diff := cmp.Diff(fields(list), got, cmpNil); diff != "" {
				t.Errorf("may call (-listed +database)\n%s", diff)
			}
			var want []string
			if slices.Contains(readers, role) {
				want = fields(mayRead)
			}
			got = column(t, db, `
				select c.relname::text from pg_class c
				 where c.relnamespace = 'core'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
				   and has_table_privilege('`+role+`', c.oid, 'select') order by 1`)
			if diff := cmp.Diff(want, got, cmpNil); diff != "" {
				t.Errorf("may read (-listed +database)\n%s", diff)
			}
			for _, written := range column(t, db, `
				select c.oid::regclass::text from pg_class c
				 where c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and c.relkind in ('r', 'p', 'v')
				   and has_table_privilege('`+role+`', c.oid, 'insert, update, delete, truncate, references, trigger')`) {
				if written != "core.scheduled_tasks" || role != "nexus_operator" && role != "nexus_admin" {
					t.Errorf("may write %s", written)
				}
			}
			for _, p := range column(t, db, `
				select relname::text from pg_class c where c.relispartition and c.relnamespace = 'core'::regnamespace
				   and has_table_privilege('`+role+`', c.oid, 'select')`) {
				t.Errorf("may read partition %s past the policy of its parent", p)
			}
		})
	}
}

var cmpNil = cmp.Transformer("empty", func(l []string) []string {
	if len(l) == 0 {
		return nil
	}
	return l
})

// fields of a list, in the order the database gives.
func fields(list string) []string {
	return slices.Compact(slices.Sorted(slices.Values(strings.Fields(list))))
}

// What a role may not call it cannot call: tried with every function of core as each duty, not only looked up.
// holds: I3
func TestRefusedFunctionsRefuse(t *testing.T) {
	db := dbtest.New(t)
	calls := column(t, db, `
		select p.proname || ' ' || format('%s %s.%I(%s)', case p.prokind when 'p' then 'call' else 'select' end, p.pronamespace::regnamespace, p.proname,
		         (select coalesce(string_agg(format('null::%s', format_type(a.type, null)), ', '), '') from unnest(p.proargtypes) a(type)))
		  from pg_proc p where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace) order by 1`)
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for role, list := range mayCall {
		if _, err := conn.Exec(t.Context(), "set role "+role); err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			name, call, _ := strings.Cut(c, " ")
			if slices.Contains(fields(list), name) {
				continue
			}
			_, err := conn.Exec(t.Context(), call)
			var pg *pgconn.PgError
			if !errors.As(err, &pg) || pg.Code != "42501" {
				t.Errorf("%s calls core.%s: %v; want 42501", role, name, err)
			}
		}
	}
}
