create or replace function core_node.heartbeat(p_node_id text, p_incarnation uuid, p_state text, p_info jsonb = '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text;
begin
    if coalesce(p_state, '') not in ('starting', 'active', 'draining', 'stopped')
       or jsonb_typeof(p_info) is distinct from 'object' then
        raise exception using errcode = 'NX006', column = 'p_state',
            message = format('state cannot be %s', coalesce(quote_literal(left(p_state, 100)), 'NULL')),
            hint = 'States: starting, active, draining, stopped; p_info is an object.';
    end if;
    if octet_length(p_info::text) > 65536 then
        raise exception using errcode = 'NX006', column = 'p_info',
            message = format('p_info has %s bytes, more than 65536', octet_length(p_info::text)),
            hint = 'Give up to 65536 bytes.';
    end if;
    select n.namespace
      into v_namespace
      from core.nodes n
     where n.node_id = p_node_id and n.incarnation = p_incarnation;
    if not found or core_private.is_hidden(v_namespace) then
        return false;
    end if;
    perform core_private.require_duty(v_namespace, 'consume');
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
