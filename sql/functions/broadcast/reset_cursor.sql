-- Transaction ids are compared within one server, or they mean nothing. Those that came along to another one are in
-- order among themselves: what of it the node had not read is found by them, here for the last time. All that was
-- emitted here since has ids beyond, and is new to it. Both waits apart, as far as it can be seen; what cannot yet is
-- found by the cursor, which begins at the present. What came along with ids of transactions to come would be found by
-- it, too, one day: so it leaves out all up to there.
create or replace function core_private.reset_cursor(
    p_cursor core_private.broadcast_cursors, p_cluster bigint, p_now timestamptz)
returns core_private.broadcast_cursors
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_shot   pg_snapshot;
    v_judged bigint;
    v_kept   bigint;
    v_reason text;
begin
    -- One statement, so that nothing is committed between what it sees and the snapshot.
    with kept as (
        insert into core_private.broadcast_deliveries (
            node_id, broadcast_id, namespace, event_type, message, headers, due_at)
        select p_cursor.node_id, b.broadcast_id, b.namespace, b.event_type, b.message, b.headers, p_now
          from core.broadcasts b
         where b.namespace = p_cursor.namespace
           and (b.cluster = p_cursor.cluster or b.cluster = p_cluster and b.broadcast_id > p_cursor.top)
           and core_private.is_unread(p_cursor, b.xid, b.broadcast_id)
           and exists (select from unnest(p_cursor.patterns) p where core_private.matches(p, b.event_type))
        on conflict do nothing
        returning 1)
    select pg_current_snapshot(), (select count(*) from kept),
           greatest(
               p_cursor.top,
               (select max(b.broadcast_id)
                  from core.broadcasts b
                 where b.namespace = p_cursor.namespace and not pg_visible_in_snapshot(b.xid, pg_current_snapshot())))
      into v_shot, v_kept, v_judged;
    v_reason := case when p_cursor.cluster <> p_cluster
                     then format('came from server %s to server %s', p_cursor.cluster, p_cluster)
                     else format('came from a copy of this server, where it was at transaction %s',
                                 greatest(pg_snapshot_xmax(p_cursor.seen), pg_snapshot_xmax(p_cursor.target))) end
                || format('; %s unread broadcasts are kept for it', v_kept);
    update core_private.broadcast_cursors c
       set cluster = p_cluster, seen = v_shot, target = null, at_xid = '0', at_id = 0,
           top = coalesce(pg_sequence_last_value('core.broadcasts_broadcast_id_seq'), 0), judged = v_judged,
           taken_xid = null, taken_id = null, taken_at = null, reset_at = p_now, reset_reason = v_reason
     where c.node_id = p_cursor.node_id
    returning c.* into p_cursor;
    return p_cursor;
end $$;
comment on function core_private.reset_cursor(core_private.broadcast_cursors, bigint, timestamptz) is 'Sets a cursor anew whose transaction ids are not this server''s, and notes why.';
