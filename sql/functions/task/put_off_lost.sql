-- That a table is missing is no fault of a scheduled event, so no attempt is counted. A task has none to use up, and
-- comes back as after any failure.
create or replace function core_private.put_off_lost(
    p_what text, p_namespace text, p_ids uuid[], p_error text, p_now timestamptz)
returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_off uuid[];
begin
    if p_what = 'tasks' then
        v_off := array(
            select t.task_id from core.scheduled_tasks t
             where t.task_id = any (p_ids) and core_private.lost_queue_for(p_namespace, t.event_type) is not null);
        perform core_private.fail_task(o, p_error, p_now) from unnest(v_off) o;
    else
        with off as (
            update core.scheduled_events e
               set last_error = core_private.clean_text(p_error), due_at = p_now + interval '1 minute'
             where e.schedule_id = any (p_ids) and e.namespace = p_namespace and e.status = 'pending'
               and core_private.lost_queue_for(p_namespace, e.event_type) is not null
            returning e.schedule_id)
        select coalesce(array_agg(o.schedule_id), '{}') into v_off from off o;
    end if;
    return array(select i from unnest(p_ids) with ordinality u(i, n) where i <> all (v_off) order by u.n);
end $$;
comment on function core_private.put_off_lost(text, text, uuid[], text, timestamptz) is 'Puts locked tasks, or events, of one namespace off, events for a minute, that would go to a queue without a table; returns the others.';
