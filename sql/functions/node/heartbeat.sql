create or replace function core_node.heartbeat(p_node_id text, p_incarnation uuid, p_state text, p_info jsonb = '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if coalesce(p_state, '') not in ('starting', 'active', 'draining', 'stopped') then
        raise exception using errcode = 'NX006', column = 'p_state',
            message = format('state cannot be %s', coalesce(quote_literal(left(p_state, 100)), 'NULL')),
            hint = 'States: starting, active, draining, stopped.';
    end if;
    perform core_private.check_node_info(p_info);
    if core_private.incarnation_namespace(p_node_id, p_incarnation) is null then
        return false;
    end if;
    update core.nodes n
       set last_heartbeat = core_private.now(), state = p_state,
           metadata = case when octet_length(n.metadata::text) <= 131072 then n.metadata || p_info else p_info end,
           session_pid = pg_backend_pid()
     where n.node_id = p_node_id and n.incarnation = p_incarnation and n.state <> 'lost'
       -- A heartbeat that was given up on may still come after the goodbye.
       and (n.state <> 'stopped' or p_state = 'stopped');
    return found;
end $$;
comment on function core_node.heartbeat(text, uuid, text, jsonb) is 'For nodes: a sign of life with the state; false when the node is unknown, was marked lost or was superseded by a later incarnation, and must register anew. Raises NX006, NX401, NX402.';
