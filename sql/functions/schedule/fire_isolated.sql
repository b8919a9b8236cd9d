-- A set that fails is halved, down to the task that fails alone, which is put back with its error: for a minute, then longer, an hour at
-- most.
create or replace function core_private.fire_isolated(p_namespace text, p_task_ids uuid[], p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_half  integer := cardinality(p_task_ids) / 2;
    v_state text;
    v_error text;
begin
    begin
        return core_private.fire_set(p_namespace, p_task_ids, p_now);
    exception when others then
        get stacked diagnostics v_state = returned_sqlstate, v_error = message_text;
        if core_private.is_transient(v_state) then
            raise;
        end if;
    end;
    if v_half > 0 then
        return core_private.fire_isolated(p_namespace, p_task_ids[:v_half], p_now) + core_private.fire_isolated(p_namespace, p_task_ids[v_half + 1:], p_now);
    end if;
    update core.scheduled_tasks t
       set failures = t.failures + 1, last_error = core_private.clean_text(v_state || ' ' || v_error),
           next_run_at = p_now + least(interval '1 hour', interval '1 minute' * power(2, least(t.failures, 6)))
     where t.task_id = p_task_ids[1];
    return 0;
end $$;
comment on function core_private.fire_isolated(text, uuid[], timestamptz) is 'Fires locked tasks of one namespace, and records the error of those that cannot be fired; returns how many events were emitted. Raises what passes by itself.';
