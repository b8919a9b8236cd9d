-- A set that fails is halved, down to the one that fails alone. Where queues have lost their tables all that would go
-- there is put off at once.
create or replace function core_private.fire_isolated(p_what text, p_namespace text, p_ids uuid[], p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_half  integer := cardinality(p_ids) / 2;
    v_state text;
    v_error text;
    v_rest  uuid[];
begin
    begin
        if p_what = 'tasks' then
            return core_private.fire_set(p_namespace, p_ids, p_now);
        end if;
        return core_private.append_scheduled_events(p_namespace, p_ids, p_now);
    exception when others then
        get stacked diagnostics v_state = returned_sqlstate, v_error = message_text;
        if core_private.is_transient(v_state) then
            raise;
        end if;
    end;
    if v_state = 'NX110' then
        v_rest := core_private.put_off_lost(p_what, p_namespace, p_ids, v_state || ' ' || v_error, p_now);
        if v_rest = '{}' then
            return 0;
        elsif cardinality(v_rest) < cardinality(p_ids) then
            return core_private.fire_isolated(p_what, p_namespace, v_rest, p_now);
        end if;
    end if;
    if v_half > 0 then
        return core_private.fire_isolated(p_what, p_namespace, p_ids[:v_half], p_now)
               + core_private.fire_isolated(p_what, p_namespace, p_ids[v_half + 1:], p_now);
    end if;
    if p_what = 'tasks' then
        perform core_private.fail_task(p_ids[1], v_state || ' ' || v_error, p_now);
    else
        perform core_private.fail_scheduled_event(p_namespace, p_ids[1], v_state || ' ' || v_error, p_now);
    end if;
    return 0;
end $$;
comment on function core_private.fire_isolated(text, text, uuid[], timestamptz) is 'Fires locked tasks, or events, of one namespace (p_what: tasks or events), and records the error of those that cannot be fired; returns how many events were emitted. Raises what passes by itself.';
