-- Asked of the heartbeat and not of the reaper's verdict alone, so that it does not matter whether the reaper has
-- been by. An SQL handler takes all that its consumer gets or that names it, whoever runs it, and any node starts
-- a workflow that has a definition.
create or replace function core_private.live_patterns(p_namespace text, p_consumer text, p_now timestamptz)
returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select nullif(
               array_agg(distinct c.key order by c.key)
               || array(
                   select '*'::text
                     from core.consumers k
                     join core_private.sql_handlers h on h.consumer_id = k.consumer_id
                    where k.namespace = p_namespace and k.name = p_consumer
                   union all
                   select h.key::text
                     from core.consumers k
                     join core.handlers h on h.namespace = k.namespace
                    where k.namespace = p_namespace and k.name = p_consumer and k.routed and h.kind = 'sql'
                   union all
                   select unnest(core_private.workflow_targets(p_namespace))
                    where exists (
                        select
                          from core.consumers k
                          join core.nodes x on x.namespace = k.namespace
                         where k.namespace = p_namespace and k.name = p_consumer and k.routed
                           and x.state in ('starting', 'active', 'draining')
                           and x.last_heartbeat >= p_now - 3 * x.heartbeat_every)),
               '{}')
      from core.nodes n
      join core_private.node_capabilities c on c.node_id = n.node_id and c.incarnation = n.incarnation
     where n.namespace = p_namespace and n.state in ('starting', 'active', 'draining')
       and n.last_heartbeat >= p_now - 3 * n.heartbeat_every
       and c.kind = 'event_type' and c.consumer = p_consumer
$$;
comment on function core_private.live_patterns(text, text, timestamptz) is 'The patterns of event types that live nodes handle for a consumer; NULL while no node of it lives. Of a consumer with an SQL handler: all; of a routed one also the keys of those in SQL, and of workflows that there are.';
