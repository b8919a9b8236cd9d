-- A set that fails is halved, down to the one that fails alone.
create or replace function core_private.fire_events(p_namespace text, p_ids uuid[], p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_half  integer := cardinality(p_ids) / 2;
    v_state text;
    v_error text;
begin
    begin
        return core_private.append_scheduled_events(p_namespace, p_ids, p_now);
    exception when others then
        get stacked diagnostics v_state = returned_sqlstate, v_error = message_text;
        if core_private.is_transient(v_state) then
            raise;
        end if;
    end;
    if v_half > 0 then
        return core_private.fire_events(p_namespace, p_ids[:v_half], p_now) + core_private.fire_events(p_namespace, p_ids[v_half + 1:], p_now);
    end if;
    perform core_private.fail_scheduled_event(p_ids[1], v_state || ' ' || v_error, p_now);
    return 0;
end $$;
comment on function core_private.fire_events(text, uuid[], timestamptz) is 'Emits locked scheduled events of one namespace, and records those that cannot be emitted; returns how many were. Raises what passes by itself.';
