create or replace function core_node.require_routed(p_namespace text, p_consumer text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_duty(p_namespace, 'consume');
    return core_private.open_routed(p_namespace, p_consumer);
end $$;
comment on function core_node.require_routed(text, text) is 'For nodes: the queue of a routed consumer (triggers, requests, or another one), which is made if it is not there. Raises NX008, NX101, NX202, NX212, NX401, NX402.';
