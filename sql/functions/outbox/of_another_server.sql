-- A copy of a server has its identifier, and ids of transactions of its own: where those of a lane have not been
-- reached here, it is of the other one. Where they are behind, they are older than all there is, as they should be.
create or replace function core_private.of_another_server(p_lane core_private.lanes, p_cluster bigint)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_next xid8 := greatest(p_lane.done_next, p_lane.cur_next);
begin
    if p_lane.cluster <> p_cluster then
        return true;
    end if;
    return v_next > pg_snapshot_xmax(pg_current_snapshot())
       -- But for what this transaction itself has just stored.
       and v_next::text::bigint > coalesce(pg_current_xact_id_if_assigned()::text::bigint, 0) + 1;
end $$;
comment on function core_private.of_another_server(core_private.lanes, bigint) is 'Whether the transaction ids of a lane mean nothing on this server, whose core_private.cluster_id() is p_cluster.';
