create or replace function core.reschedule_event(p_schedule_id uuid, p_at timestamptz, p_strict boolean = true)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_due    timestamptz;
    v_soon   boolean;
    v_status text := core_private.scheduled_event_status(p_schedule_id);
begin
    perform core_private.check_fire_time(p_at, v_now);
    v_due := greatest(p_at, v_now);
    v_soon := v_due < coalesce(core_private.next_scheduled_event_due(), 'infinity');
    update core.scheduled_events e
       set fire_at = p_at, due_at = v_due, version = e.version + 1, attempts = 0, first_failed_at = null
     where e.schedule_id = p_schedule_id
       and e.namespace = any (core_private.scheduled_namespaces(p_schedule_id))
       and e.status = 'pending';
    if found then
        if v_soon then
            perform core_private.wake('timers', v_now);
        end if;
        return 'rescheduled';
    end if;
    -- A statement of its own sees what the update waited for.
    v_status := core_private.scheduled_event_status(p_schedule_id);
    if v_status is null and p_strict then
        raise exception using errcode = 'NX109', column = 'p_schedule_id',
            message = format('there is no scheduled event %s', coalesce(p_schedule_id::text, 'NULL')),
            hint = 'They are listed in core.scheduled_events.';
    end if;
    if p_strict then
        raise exception using errcode = 'NX210', column = 'p_schedule_id',
            message = format('scheduled event %s is already %s', p_schedule_id, v_status),
            hint = case v_status
                        when 'failed' then 'Replay its dead letter, or schedule a new one.'
                        else 'Schedule a new one.' end;
    end if;
    return case v_status when 'appended' then 'already_appended' else 'not_found' end;
end $$;
comment on function core.reschedule_event(uuid, timestamptz, boolean) is 'Moves a pending scheduled event to p_at, its attempts starting afresh; returns rescheduled. Of one that is no longer pending it raises, or, with p_strict false, answers already_appended or not_found. Raises NX006, NX109, NX210, NX401, NX402.';
