-- The update waits for a transaction that is firing or cancelling the event. The look after it sees the result of
-- that transaction. In REPEATABLE READ and above the wait ends in 40001 instead, and the transaction has to be run
-- again.
create or replace function core.cancel_scheduled_event(p_schedule_id uuid)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_status text := core_private.scheduled_event_status(p_schedule_id);
begin
    if p_schedule_id is null then
        raise exception using errcode = 'NX006', column = 'p_schedule_id',
            message = 'p_schedule_id is NULL',
            hint = 'Give what core.schedule_event returned.';
    end if;
    update core.scheduled_events e
       set status = 'cancelled', finished_at = v_now, finished_by = core_private.principal()
     where e.schedule_id = p_schedule_id
       and e.namespace = any (core_private.scheduled_namespaces(p_schedule_id))
       and e.status = 'pending';
    if found then
        return 'cancelled';
    end if;
    v_status := core_private.scheduled_event_status(p_schedule_id);
    return case v_status when 'appended' then 'already_appended' else 'not_found' end;
end $$;
comment on function core.cancel_scheduled_event(uuid) is 'Takes a pending scheduled event back, if the caller''s transaction commits. Answers cancelled; already_appended if it was emitted; not_found if there is none, or it was cancelled before, or has failed. Raises NX006, NX401, NX402.';
