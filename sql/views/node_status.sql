create or replace view core.node_status with (security_invoker = true) as
select n.node_id, n.namespace, n.state, n.version, n.registered_at,
       n.last_heartbeat, (select core.now()) - n.last_heartbeat as heartbeat_age,
       n.state in ('starting', 'active', 'draining')
           and n.last_heartbeat >= (select core.now()) - 3 * n.heartbeat_every as alive,
       n.capabilities -> 'event_types' as event_types, n.incarnation, n.principal, n.metadata
  from core.nodes n;
comment on view core.node_status is 'Nodes, with the age of the last heartbeat and whether they count as alive.';
comment on column core.node_status.node_id is 'The node.';
comment on column core.node_status.namespace is 'The namespace it works for.';
comment on column core.node_status.state is 'starting, active, draining, stopped (said goodbye) or lost (three heartbeats missed).';
comment on column core.node_status.version is 'Version of the program, as it told.';
comment on column core.node_status.registered_at is 'When this incarnation registered.';
comment on column core.node_status.last_heartbeat is 'Its last sign of life.';
comment on column core.node_status.heartbeat_age is 'Time since then.';
comment on column core.node_status.alive is 'Whether it counts as alive: not stopped nor lost, and fewer than three heartbeats missed.';
comment on column core.node_status.event_types is 'Patterns of event types that it handles, an array.';
comment on column core.node_status.incarnation is 'One life of the node: another value after each start.';
comment on column core.node_status.principal is 'Who registered it: the session user, with the role set, if any.';
comment on column core.node_status.metadata is 'What the node tells of itself.';
