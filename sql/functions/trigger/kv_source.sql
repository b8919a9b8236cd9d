create or replace function core_private.kv_source(p_trigger_id uuid)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('collection', d.collection)
           || case when d.ops = '{}' then '{}' else jsonb_build_object('ops', d.ops) end
           || case when d.columns = '{}' then '{}' else jsonb_build_object('columns', d.columns) end
           || case when d.filter is null then '{}' else jsonb_build_object('contains', d.filter) end
      from core.kv_trigger_details d
     where d.trigger_id = p_trigger_id
$$;
comment on function core_private.kv_source(uuid) is 'The source of a trigger of kind kv, as core_private.check_kv_source has it.';
