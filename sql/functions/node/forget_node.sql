create or replace function core.forget_node(p_node_id text, p_reason text = null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text := core_private.node_namespace(p_node_id, 'operate');
    v_state     text;
    v_lanes     integer := 0;
begin
    select n.state
      into v_state
      from core.nodes n
     where n.node_id = p_node_id and n.state in ('starting', 'active', 'draining', 'lost')
       for update;
    if not found then
        return false;
    end if;
    if v_state = 'lost' then
        delete from core.nodes n where n.node_id = p_node_id;
    else
        update core.nodes n set state = 'lost' where n.node_id = p_node_id;
        delete from core_private.node_capabilities c where c.node_id = p_node_id;
        v_lanes := core_private.end_leases_of_nodes(array[p_node_id], core_private.now());
    end if;
    perform core_private.audit('forget_node', v_namespace, p_node_id, p_reason,
        jsonb_build_object('state_before', v_state)
        || case when v_lanes > 0 then jsonb_build_object('lanes', v_lanes) else '{}' end);
    return true;
end $$;
comment on function core.forget_node(text, text) is 'Counts a node that was killed as lost at once, so that its id is free, and takes one that is lost already off the list, as upkeep does after seven days, or keep_broadcasts of its namespace if that is longer: with its cursor over broadcasts, and what waits for it to try again. So the first call marks it lost, and a second one removes it. False if it had stopped. The leases of lanes that it holds end with that, others by their own time. A node that lives nevertheless registers anew with its next heartbeat, and ends if its id is taken by then. Raises NX104, NX401, NX402.';
