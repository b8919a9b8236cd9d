create or replace function core_private.broadcast_in_hand(p_cursor core_private.broadcast_cursors)
returns core_private.broadcast_deliveries
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row core_private.broadcast_deliveries;
begin
    if p_cursor.taken_xid is null then
        select d.*
          into v_row
          from core_private.broadcast_deliveries d
         where d.node_id = p_cursor.node_id and d.broadcast_id = p_cursor.taken_id;
        return v_row;
    end if;
    select p_cursor.node_id, b.broadcast_id, b.namespace, b.event_type, b.message, b.headers, b.emitted_at, 0, 0, 0
      into v_row.node_id, v_row.broadcast_id, v_row.namespace, v_row.event_type, v_row.message, v_row.headers,
           v_row.due_at, v_row.failures, v_row.deferrals, v_row.replay_count
      from core.broadcasts b
     where b.broadcast_id = p_cursor.taken_id;
    return v_row;
end $$;
comment on function core_private.broadcast_in_hand(core_private.broadcast_cursors) is 'What a node has in hand, as it stood before; its broadcast_id is NULL where that was removed meanwhile.';
