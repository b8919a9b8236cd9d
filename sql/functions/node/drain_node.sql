-- The flag is the request; the notification only makes it prompt. A node behind a transaction-mode pooler hears none
-- and sees the flag with its next heartbeat.
create or replace function core.drain_node(p_node_id text, p_reason text = null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text := core_private.node_namespace(p_node_id, 'operate');
    v_now       timestamptz := core_private.now();
begin
    update core.nodes n set drain_requested_at = coalesce(n.drain_requested_at, v_now)
     where n.node_id = p_node_id and n.state in ('starting', 'active', 'draining');
    if not found then
        return false;
    end if;
    perform core_private.audit('drain_node', v_namespace, p_node_id, p_reason);
    if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('nexus_wake', 'drain:' || md5(p_node_id));
    end if;
    return true;
end $$;
comment on function core.drain_node(text, text) is 'Asks a node to drain as it would by SIGTERM: it claims no more, finishes what runs within its grace time, gives back the rest and ends. Whoever started the process may start it again. Returns false if the node is not running. Raises NX104, NX401, NX402.';
