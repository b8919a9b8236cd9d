create or replace function core_private.check_kv_source(p_namespace text, p_source jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ops     text[] := core_private.source_list(p_source, 'ops');
    v_columns text[] := core_private.source_list(p_source, 'columns');
begin
    perform core_private.check_option_keys(p_source, '{collection,ops,columns,contains}', 'p_source');
    if not v_ops <@ '{insert,update,delete}'::text[] then
        perform core_private.fail_trigger('ops', format('ops cannot be %s', left(p_source ->> 'ops', 200)),
            'Give some of insert, update, delete; truncate is one of delete.');
    end if;
    return jsonb_build_object('collection', core_private.source_pattern(p_source, 'collection'))
        || case when v_ops = '{}' then '{}' else jsonb_build_object('ops', v_ops) end
        || case when v_columns = '{}' then '{}' else jsonb_build_object('columns', v_columns) end
        || core_private.source_filter(p_source);
end $$;
comment on function core_private.check_kv_source(text, jsonb) is 'The source of a trigger of kind kv: collection, ops, columns and contains. Raises NX004, NX005, NX008, NX014.';
