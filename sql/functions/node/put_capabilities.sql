-- The caller holds the row of the node, and has checked what it gives.
create or replace function core_private.put_capabilities(
    p_node_id text, p_incarnation uuid, p_namespace text, p_types text[], p_consumers text[], p_workflows text[],
    p_queues text[] = '{}')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
begin
    update core.nodes n
       set capabilities = jsonb_build_object('event_types', to_jsonb(coalesce(p_types, '{}')))
                          || case when cardinality(p_workflows) > 0
                                  then jsonb_build_object('workflows', to_jsonb(p_workflows)) else '{}' end
                          || case when cardinality(p_queues) > 0
                                  then jsonb_build_object('queues', to_jsonb(p_queues)) else '{}' end
     where n.node_id = p_node_id;
    delete from core_private.node_capabilities c where c.node_id = p_node_id;
    insert into core_private.node_capabilities (node_id, incarnation, kind, consumer, key)
    select distinct p_node_id, p_incarnation, 'event_type', u.c, u.t
      from unnest(p_types, p_consumers) u(t, c)
     union
    select p_node_id, p_incarnation, 'workflow', '', w
      from unnest(p_workflows) w
     union
    select p_node_id, p_incarnation, 'outbox', '', q
      from unnest(p_queues) q;

    -- From now on its queues are searched for what nobody handles. What it handles comes back: a first batch here, then
    -- core_node.unpark.
    begin
        insert into core_private.parking (queue_name, seen_at)
        select c.queue_name, v_now
          from core.consumers c
         where c.namespace = p_namespace and c.name = any (p_consumers) and c.queue_name is not null
         order by c.queue_name
        on conflict do nothing;
    exception when lock_not_available then
        null; -- another node is adding them; should it not, the next one to register does
    end;
    perform core_node.unpark(p_namespace, 1000);
end $$;
comment on function core_private.put_capabilities(text, uuid, text, text[], text[], text[], text[]) is 'Stores what a node can do from now on, in place of what it could, and brings back a first batch of what was parked for want of it.';
