create or replace function core_private.is_unread(p_cursor core_private.broadcast_cursors, p_xid xid8, p_id bigint)
returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select p_id > p_cursor.judged
       and (p_id > p_cursor.top
            or not pg_visible_in_snapshot(p_xid, p_cursor.seen)
               and (p_cursor.target is null or not pg_visible_in_snapshot(p_xid, p_cursor.target)
                    or (p_xid, p_id) > (p_cursor.at_xid, p_cursor.at_id)))
$$;
comment on function core_private.is_unread(core_private.broadcast_cursors, xid8, bigint) is 'Whether a cursor has not come to a broadcast of its cluster.';
