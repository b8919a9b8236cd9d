-- What a run that has come by here rests on. Functions, retries, times and numbers may change under it.
create or replace function core_private.workflow_shape(p_node jsonb)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return jsonb_build_object(
        'kind', p_node -> 'kind', 'name', p_node -> 'name', 'undo', p_node -> 'undo', 'workflow', p_node -> 'workflow',
        'steps', (select jsonb_agg(core_private.workflow_shape(s.node) order by s.i)
                    from jsonb_array_elements(coalesce(p_node -> 'steps', '[]')) with ordinality s(node, i)),
        'cases', (select jsonb_object_agg(
                             k.key, coalesce((select jsonb_agg(core_private.workflow_shape(s.node) order by s.i)
                                                from jsonb_array_elements(k.value) with ordinality s(node, i)), '[]'))
                    from jsonb_each(coalesce(p_node -> 'cases', '{}')) k));
end $$;
comment on function core_private.workflow_shape(jsonb) is 'Of a step and all that is in it: kind, name, structure and kind of compensation.';
