create or replace function core_node.ack_broadcast(p_node_id text, p_holder uuid, p_turn bigint)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_cursor core_private.broadcast_cursors;
begin
    perform core_private.node_namespace(p_node_id, 'consume');
    select c.*
      into v_cursor
      from core_private.broadcast_cursors c
     where c.node_id = p_node_id and c.holder = p_holder and c.turn = p_turn and c.taken_id is not null
       for update;
    if not found then
        perform core_private.fail_unheld_broadcast(p_node_id, p_turn);
    end if;
    perform core_private.pass_broadcast(v_cursor, true, core_private.now());
end $$;
comment on function core_node.ack_broadcast(text, uuid, bigint) is 'For nodes: the broadcast in hand is done, in the caller''s transaction, which is that of its handlers. Raises NX104, NX301, NX401, NX402.';
