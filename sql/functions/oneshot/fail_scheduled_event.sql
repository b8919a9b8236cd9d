create or replace function core_private.fail_scheduled_event(
    p_namespace text, p_schedule_id uuid, p_error text, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_retry jsonb;
    v_max   integer;
    v_row   core.scheduled_events;
begin
    select n.retry, core_private.max_attempts('{}', n.retry) into v_retry, v_max
      from core.namespaces n where n.namespace = p_namespace;
    update core.scheduled_events e
       set attempts = e.attempts + 1,
           last_error = core_private.clean_text(p_error),
           first_failed_at = coalesce(e.first_failed_at, p_now),
           status = case when v_max > 0 and e.attempts + 1 >= v_max then 'failed' else 'pending' end,
           due_at = p_now + core_node.retry_delay(v_retry, e.attempts + 1)
     where e.schedule_id = p_schedule_id and e.namespace = p_namespace and e.status = 'pending'
    returning * into v_row;
    if v_row.status = 'failed' then
        execute format($q$
            with dead as (
                select 'task' as source_kind, $1 as namespace, null::text as consumer, ($2).event_type,
                       k.ref as source_ref,
                       null::text as queue_name, null::bigint as msg_id, null::bigint as dlq_msg_id,
                       null::bigint as event_id, ($2).schedule_id as event_uid,
                       ($2).payload, null::jsonb as envelope, ($2).metadata -> 'headers' as headers,
                       ($2).attempts, ($2).first_failed_at as first_attempt_at, $3 as last_attempt_at,
                       $3 as failed_at, 'attempts used up' as reason, ($2).last_error,
                       ($2).metadata ->> 'ordering_key' as ordering_key,
                       b.last_id as replay_of, b.rounds as replay_count, null::text as node_id, 1 as position,
                       null::bytea as body, null::text as body_type, null::integer as lane, null::bigint as lane_seq
                  from (select jsonb_build_object('namespace', $1, 'scheduleId', ($2).schedule_id) as ref) k
                 cross join lateral (
                     select max(l.dead_letter_id) as last_id, count(*) as rounds
                       from core.dead_letters l
                      where l.source_kind = 'task' and l.source_ref = k.ref) b),
            %s
            select l.dead_letter_id
              from ledger l
            $q$, core_private.ledger_plan())
        using p_namespace, v_row, p_now;
    end if;
end $$;
comment on function core_private.fail_scheduled_event(text, uuid, text, timestamptz) is 'Records that a scheduled event could not be emitted: it is due again by the namespace''s retry policy, or, its attempts used up, a dead letter.';
