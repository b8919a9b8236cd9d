create or replace function core_node.reap_nodes()
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now  timestamptz := core_private.now();
    v_closed text[] := core_private.closed_namespaces();
    v_lost text[];
begin
    with lost as (
        update core.nodes n
           set state = 'lost'
          from (select x.node_id
                  from core.nodes x
                 where x.state in ('starting', 'active', 'draining')
                   and x.last_heartbeat < v_now - 3 * x.heartbeat_every
                   and x.namespace <> all (v_closed)
                 order by x.node_id
                 limit 1000
                   for update skip locked) silent
         where n.node_id = silent.node_id
        returning n.node_id),
    forgotten as (
        delete from core_private.node_capabilities c
         using core.nodes n
         where n.node_id = c.node_id and n.namespace <> all (v_closed)
           and (n.state in ('stopped', 'lost') or n.node_id in (select l.node_id from lost l)))
    select array_agg(l.node_id)
      into v_lost
      from lost l;
    if v_lost is not null then
        perform core_private.end_leases_of_nodes(v_lost, v_now);
    end if;
    return coalesce(cardinality(v_lost), 0);
end $$;
comment on function core_node.reap_nodes() is 'Marks nodes lost that missed three heartbeats, up to 1,000 a call, and none of a restricted namespace in which the caller may neither consume nor operate; returns how many. The leases of lanes that they hold end with that; others end by their own time.';
