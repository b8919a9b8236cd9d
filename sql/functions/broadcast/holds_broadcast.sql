create or replace function core_node.holds_broadcast(p_node_id text, p_holder uuid, p_turn bigint)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.node_namespace(p_node_id, 'consume');
    return exists (
        select
          from core_private.broadcast_cursors c
         where c.node_id = p_node_id and c.holder = p_holder and c.turn = p_turn and c.taken_id is not null);
end $$;
comment on function core_node.holds_broadcast(text, uuid, bigint) is 'For nodes: whether the broadcast in hand is still the caller''s. Raises NX104, NX401, NX402.';
