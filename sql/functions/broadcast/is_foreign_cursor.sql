-- A copy of a server has its identifier, and ids of transactions of its own. A cursor that came from the other one
-- gives itself away: by ids that have not been reached here, or are in use; and once they have been passed, by a
-- broadcast beyond the last one that could be seen when its snapshots were taken, whose transaction these call ended.
--
-- The last is looked for among all namespaces' broadcasts, which are few since then.
create or replace function core_private.is_foreign_cursor(
    p_cursor core_private.broadcast_cursors, p_cluster bigint, p_snapshot pg_snapshot)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
    return p_cursor.cluster <> p_cluster
        or greatest(pg_snapshot_xmax(p_cursor.seen), pg_snapshot_xmax(p_cursor.target)) > pg_snapshot_xmax(p_snapshot)
        or exists (
            select
              from pg_snapshot_xip(p_snapshot) x
             where pg_visible_in_snapshot(x, p_cursor.seen) or pg_visible_in_snapshot(x, p_cursor.target))
        or exists (
            select
              from core.broadcasts b
             where b.broadcast_id > p_cursor.top
               and b.broadcast_id <= coalesce(pg_sequence_last_value('core.broadcasts_broadcast_id_seq'), 0)
               and (b.namespace || '') = p_cursor.namespace and b.cluster = p_cluster
               and (pg_visible_in_snapshot(b.xid, p_cursor.seen)
                    or pg_visible_in_snapshot(b.xid, p_cursor.target)));
end $$;
comment on function core_private.is_foreign_cursor(core_private.broadcast_cursors, bigint, pg_snapshot) is 'Whether the transaction ids of a cursor mean nothing on this server, whose core_private.cluster_id() is p_cluster.';
