create or replace function core_private.next_slots(
    p_spec jsonb, p_timezone text, p_after timestamptz, p_anchor timestamptz, p_count integer)
returns setof timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_slot   timestamptz := p_after;
    v_anchor timestamptz := coalesce(p_anchor, p_after);
begin
    for i in 1..p_count loop
        v_slot := core_private.next_slot(p_spec, p_timezone, v_slot, v_anchor);
        exit when v_slot is null;
        return next v_slot;
    end loop;
end $$;
comment on function core_private.next_slots(jsonb, text, timestamptz, timestamptz, integer) is 'The next p_count slots after p_after, ascending.';
