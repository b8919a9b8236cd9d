create or replace function core_node.replace_capabilities(
    p_node_id text, p_incarnation uuid, p_types text[], p_consumers text[] = null, p_workflows text[] = null,
    p_queues text[] = null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
    v_namespace text;
    v_consumers text[] := coalesce(p_consumers, array(select 'default' from unnest(p_types)));
begin
    if p_types is null then
        raise exception using errcode = 'NX006', column = 'p_types',
            message = 'p_types is NULL',
            hint = 'Give all types that the node handles from now on; none is {}.';
    end if;
    v_namespace := core_private.incarnation_namespace(p_node_id, p_incarnation);
    if v_namespace is null then
        return false;
    end if;
    -- As in register_node: not beside a drop of the namespace, which takes its rows in another order.
    perform core_private.lock_namespace(v_namespace, false);
    perform core_private.check_capabilities(v_namespace, p_types, v_consumers, p_workflows, p_queues);
    perform
       from core.nodes n
      where n.node_id = p_node_id and n.incarnation = p_incarnation
        and n.state in ('starting', 'active', 'draining')
        for no key update;
    if not found then
        return false;
    end if;
    perform core_private.put_capabilities(
        p_node_id, p_incarnation, v_namespace, p_types, v_consumers, coalesce(p_workflows, '{}'),
        coalesce(p_queues, '{}'));
    return true;
end $$;
comment on function core_node.replace_capabilities(text, uuid, text[], text[], text[], text[]) is 'For nodes: what a node that runs can do from now on, in place of what it said before: event types (patterns), for the consumer default or for those of p_consumers, which is parallel to p_types, workflows, and outbox queues whose lanes it works. What was parked for want of these types comes back, as after a registration. False when the node is unknown, has ended, was marked lost or was superseded by a later incarnation; nothing is changed then, and one that lives must register anew. Raises NX006, NX008, NX101, NX102, NX401, NX402.';
