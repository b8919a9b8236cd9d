create or replace function core.touch_node_heartbeat(p_node_id text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text;
begin
    select n.namespace into v_namespace from core.nodes n where n.node_id = p_node_id;
    if not found or core_private.is_hidden(v_namespace) then
        return false;
    end if;
    perform core_private.require_duty(v_namespace, 'consume');
    update core.nodes n set last_heartbeat = core_private.now() where n.node_id = p_node_id;
    return found;
end $$;
comment on function core.touch_node_heartbeat(text) is 'Bumps last_heartbeat; returns whether the node exists. Raises NX401, NX402.';
