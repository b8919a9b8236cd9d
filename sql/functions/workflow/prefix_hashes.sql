create or replace function core_private.prefix_hashes(p_name text, p_steps jsonb)
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_last   text := encode(sha256(convert_to(p_name, 'UTF8')), 'hex');
    v_hashes text[] := array[v_last];
    v_node   jsonb;
begin
    for v_node in select e.node from jsonb_array_elements(p_steps) with ordinality e(node, i) order by e.i loop
        v_last := encode(sha256(convert_to(v_last || core_private.workflow_shape(v_node)::text, 'UTF8')), 'hex');
        v_hashes := v_hashes || v_last;
    end loop;
    return v_hashes;
end $$;
comment on function core_private.prefix_hashes(text, jsonb) is 'A hash of the workflow''s name, and then one of each outermost step with all before it.';
