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
           due_at = p_now + core.retry_delay(v_retry, e.attempts + 1)
     where e.schedule_id = p_schedule_id and e.namespace = p_namespace and e.status = 'pending'
    returning * into v_row;
    if v_row.status = 'failed' then
        insert into core.dead_letters (
            namespace, event_type, source_kind, source_ref, round,
            event_uid, payload, headers, ordering_key,
            attempts, first_attempt_at, last_attempt_at, failed_at, reason, last_error,
            replay_of, replay_count)
        select v_row.namespace, v_row.event_type, 'task', k.ref, coalesce(max(l.round) + 1, 0),
               v_row.schedule_id, v_row.payload, v_row.metadata -> 'headers', v_row.metadata ->> 'ordering_key',
               v_row.attempts, v_row.first_failed_at, p_now, p_now, 'attempts used up', v_row.last_error,
               max(l.dead_letter_id), count(l.dead_letter_id)
          from (select jsonb_build_object('namespace', p_namespace, 'scheduleId', v_row.schedule_id) as ref) k
          left join core.dead_letters l
            on l.source_kind = 'task'
           and l.source_ref in (k.ref, k.ref - 'namespace') -- once there was no namespace in it
           and l.namespace = p_namespace
         group by k.ref;
    end if;
end $$;
comment on function core_private.fail_scheduled_event(text, uuid, text, timestamptz) is 'Records that a scheduled event could not be emitted: it is due again by the namespace''s retry policy, or, its attempts used up, a dead letter.';
