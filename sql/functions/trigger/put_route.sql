create or replace function core_private.put_route()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    delete from core_private.event_routes r where r.trigger_id = new.trigger_id;
    delete from core_private.sync_routes r where r.trigger_id = new.trigger_id;
    with live as (
        select t.*, d.pattern, d.filter, core_private.trigger_marks(t) as marks
          from core.triggers t
          join core.event_trigger_details d on d.trigger_id = t.trigger_id
         where t.trigger_id = new.trigger_id and t.enabled),
    delivered as (
        insert into core_private.event_routes (
            trigger_id, namespace, pattern, filter_key, filter, target, queue_name, marks, headers)
        select l.trigger_id, l.namespace, l.pattern, core_private.filter_key(l.filter), l.filter, l.target,
               c.queue_name, l.marks, jsonb_build_object('nexus-retry', core_private.trigger_policy(l.trigger_id))
          from live l
          join core.consumers c on c.namespace = l.namespace and c.name = l.consumer
         where l.mode <> 'sync')
    insert into core_private.sync_routes (trigger_id, namespace, pattern, filter_key, filter, marks)
    select l.trigger_id, l.namespace, l.pattern, '', l.filter, l.marks from live l where l.mode = 'sync';
    return null;
end $$;
comment on function core_private.put_route() is 'Keeps core_private.event_routes and core_private.sync_routes.';

create or replace trigger put_route
    after insert or update on core.event_trigger_details
    for each row execute function core_private.put_route();
create or replace trigger put_route
    after update on core.triggers
    for each row when (new.kind = 'event') execute function core_private.put_route();
