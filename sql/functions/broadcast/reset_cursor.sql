-- Transaction ids are compared within one server. After a dump was restored into another one, the ids that came along
-- are in order among themselves: what the node had not read is found by them, and waits apart. All that was emitted
-- here is new to it. Where the ids alone are ahead of the server's, the two cannot be told apart, and the present is
-- where it begins.
create or replace function core_private.reset_cursor(
    p_cursor core_private.broadcast_cursors, p_cluster bigint, p_snapshot pg_snapshot, p_now timestamptz)
returns core_private.broadcast_cursors
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_moved  bigint := 0;
    v_reason text;
    v_seen   pg_snapshot := p_snapshot;
begin
    if p_cursor.cluster <> p_cluster then
        insert into core_private.broadcast_deliveries (
            node_id, broadcast_id, namespace, event_type, message, headers, due_at)
        select p_cursor.node_id, b.broadcast_id, b.namespace, b.event_type, b.message, b.headers, p_now
          from core.broadcasts b
         where b.namespace = p_cursor.namespace and b.cluster = p_cursor.cluster
           and core_private.is_unread(p_cursor, b.xid, b.broadcast_id)
           and exists (select from unnest(p_cursor.patterns) p where core_private.matches(p, b.event_type))
        on conflict do nothing;
        get diagnostics v_moved = row_count;
        v_seen := '1:1:';
        v_reason := format('came from server %s to server %s; %s unread broadcasts came along',
                           p_cursor.cluster, p_cluster, v_moved);
    else
        v_reason := format('was at transaction %s, ahead of the server at %s; begins at the present',
                           pg_snapshot_xmax(p_cursor.seen), pg_snapshot_xmax(p_snapshot));
    end if;
    update core_private.broadcast_cursors c
       set cluster = p_cluster, seen = v_seen, target = null, at_xid = '0', at_id = 0,
           taken_xid = null, taken_id = null, taken_at = null, reset_at = p_now, reset_reason = v_reason
     where c.node_id = p_cursor.node_id
    returning c.* into p_cursor;
    return p_cursor;
end $$;
comment on function core_private.reset_cursor(core_private.broadcast_cursors, bigint, pg_snapshot, timestamptz) is 'Sets a cursor anew whose transaction ids are not this server''s, and notes why.';
