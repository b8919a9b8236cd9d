create or replace function core_private.put_kv_route()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    delete from core_private.kv_routes r where r.trigger_id = new.trigger_id;
    insert into core_private.kv_routes (
        trigger_id, namespace, pattern, ops, columns, filter, queue_name, marks, headers)
    select t.trigger_id, t.namespace, d.collection,
           d.ops || case when 'delete' = any (d.ops) then '{truncate}' else '{}' end::text[], d.columns, d.filter,
           case t.mode when 'sync' then '' else c.queue_name end,
           core_private.trigger_marks(t),
           jsonb_build_object('nexus-retry', core_private.trigger_policy(t.trigger_id))
      from core.triggers t
      join core.kv_trigger_details d on d.trigger_id = t.trigger_id
      join core.consumers c on c.namespace = t.namespace and c.name = t.consumer
     where t.trigger_id = new.trigger_id and t.enabled;
    return null;
end $$;
comment on function core_private.put_kv_route() is 'Keeps core_private.kv_routes.';

create or replace trigger put_kv_route
    after insert or update on core.kv_trigger_details
    for each row execute function core_private.put_kv_route();
create or replace trigger put_kv_route
    after update on core.triggers
    for each row when (new.kind = 'kv') execute function core_private.put_kv_route();
