create or replace function core_node.node_process(
    p_namespace text, p_node_id text, out incarnation uuid, out process jsonb)
returns record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_duty(p_namespace, 'consume');
    select n.incarnation, n.metadata -> 'process'
      into incarnation, process
      from core.nodes n
     where n.node_id = p_node_id and n.namespace = p_namespace
       and n.principal = core_private.principal() and n.state not in ('stopped', 'lost');
end $$;
comment on function core_node.node_process(text, text) is 'For nodes, before they register: which process of this login has the id, as it told at its registration; NULL if none has. Whoever finds that process gone registers with its incarnation as gone. Raises NX101, NX401, NX402.';
