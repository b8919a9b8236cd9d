create or replace function core_private.cut_mutation(p_mutation jsonb, p_max_bytes integer)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_cut jsonb := p_mutation || '{"old": null, "new": null, "omitted": ["old", "new"]}';
begin
    if not core_private.fits_payload(v_cut, p_max_bytes) then
        v_cut := v_cut || '{"key": null, "omitted": ["key", "old", "new"]}';
    end if;
    return v_cut;
end $$;
comment on function core_private.cut_mutation(jsonb, integer) is 'A mutation without what does not fit into a payload: old and new, and the key where that alone is too large.';
