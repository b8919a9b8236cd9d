create or replace view core.node_status with (security_invoker = true) as
select n.node_id, n.namespace, n.state, n.version, n.registered_at, n.last_heartbeat, (select core.now()) - n.last_heartbeat as heartbeat_age,
       n.state in ('starting', 'active', 'draining') and n.last_heartbeat >= (select core.now()) - 3 * n.heartbeat_every as alive,
       n.capabilities -> 'event_types' as event_types, n.incarnation, n.principal, n.metadata
  from core.nodes n;
comment on view core.node_status is 'Nodes, with the age of the last heartbeat and whether they count as alive.';
