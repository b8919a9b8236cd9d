create or replace function core_private.put_kv_source(p_trigger_id uuid, p_namespace text, p_source jsonb)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    insert into core.kv_trigger_details (trigger_id, namespace, collection, ops, columns, filter)
    values (p_trigger_id, p_namespace, p_source ->> 'collection',
            array(select jsonb_array_elements_text(p_source -> 'ops')),
            array(select jsonb_array_elements_text(p_source -> 'columns')),
            p_source -> 'contains')
    on conflict (trigger_id) do update
       set collection = excluded.collection, ops = excluded.ops, columns = excluded.columns, filter = excluded.filter
$$;
comment on function core_private.put_kv_source(uuid, text, jsonb) is 'Keeps the details of a trigger of kind kv.';
