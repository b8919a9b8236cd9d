-- One that failed, or was given back, is in core_private.broadcast_deliveries by then; p_done takes it from there.
create or replace function core_private.pass_broadcast(
    p_cursor core_private.broadcast_cursors, p_done boolean, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_done and p_cursor.taken_xid is null then
        delete from core_private.broadcast_deliveries d
         where d.node_id = p_cursor.node_id and d.broadcast_id = p_cursor.taken_id;
    end if;
    update core_private.broadcast_cursors c
       set at_xid = coalesce(p_cursor.taken_xid, p_cursor.at_xid),
           at_id = case when p_cursor.taken_xid is null then p_cursor.at_id else p_cursor.taken_id end,
           taken_xid = null, taken_id = null, taken_at = null, moved_at = p_now
     where c.node_id = p_cursor.node_id;
end $$;
comment on function core_private.pass_broadcast(core_private.broadcast_cursors, boolean, timestamptz) is 'Puts a cursor, whose row the caller holds, behind what its node has in hand.';
