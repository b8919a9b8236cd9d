create or replace function core_private.live_definitions(p_namespace text, p_now timestamptz)
returns table (def_id bigint, node_id text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select d.def_id, x.node_id
      from core.nodes x
      join core_private.node_capabilities a
        on a.node_id = x.node_id and a.incarnation = x.incarnation and a.kind = 'workflow'
      join core_private.workflow_definitions d
        on d.namespace = x.namespace and a.key = d.name || '#' || d.def_id
     where x.namespace = p_namespace and x.state in ('starting', 'active')
       and x.last_heartbeat >= p_now - 3 * x.heartbeat_every
$$;
comment on function core_private.live_definitions(text, timestamptz) is 'The definitions that live nodes have, a row for each node.';
