create or replace function core_private.bury_compensation(
    p_run uuid, p_key text, p_attempts integer, p_error jsonb, p_node text, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run core_private.workflow_runs;
begin
    select * into v_run from core_private.workflow_runs r where r.run_id = p_run;
    execute format($q$
        with dead as materialized (
            select 'workflow_compensation' as source_kind, $1 as namespace, null::text as consumer,
                   $2 as event_type, jsonb_build_object('runId', $3) as source_ref,
                   null::text as queue_name, null::bigint as msg_id, null::bigint as dlq_msg_id,
                   null::bigint as event_id, null::uuid as event_uid,
                   jsonb_build_object('runId', $3, 'workflow', $2, 'step', $4, 'input', $5, 'result', $6) as payload,
                   null::jsonb as envelope, null::jsonb as headers,
                   $7 as attempts, null::timestamptz as first_attempt_at, $8 as last_attempt_at, $8 as failed_at,
                   $9 as reason, $10 as last_error, null::text as ordering_key, null::bigint as replay_of,
                   0 as replay_count, $11 as node_id, 1 as position, null::bytea as body, null::text as body_type,
                   null::integer as lane, null::bigint as lane_seq),
        %s
        select l.dead_letter_id
          from ledger l
        $q$, core_private.ledger_plan())
    using v_run.namespace, v_run.workflow, p_run, p_key, v_run.input,
          (select j.result from core_private.workflow_journal j where j.run_id = p_run and j.key = p_key),
          p_attempts, p_now, coalesce(p_error ->> 'reason', 'compensation failed'), p_error ->> 'error', p_node;
end $$;
comment on function core_private.bury_compensation(uuid, text, integer, jsonb, text, timestamptz) is 'Makes a dead letter of a compensation that failed for good.';
