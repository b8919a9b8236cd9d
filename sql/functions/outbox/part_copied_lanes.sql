-- A copy of a server is known by ids of transactions that it has not reached, and one day it has reached them. What
-- was enqueued until then would pass for seen. So that is written down as long as it can be told, until
-- core.lanes_rebase(). Where one lane gives it away, all are of the other server.
create or replace function core_private.part_copied_lanes()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_cluster bigint := core_private.cluster_id();
    v_reached xid8 := pg_snapshot_xmax(pg_current_snapshot());
begin
    if exists (
        select
          from core_private.lanes l
         where greatest(l.done_next, l.cur_next) > v_reached
           and l.cluster = v_cluster
           and core_private.of_another_server(l, v_cluster)) then
        update core_private.lanes l set cluster = 0 where l.cluster = v_cluster;
    end if;
end $$;
comment on function core_private.part_copied_lanes() is 'Keeps that the lanes are of another server, of which this one is a copy; no server has the identifier 0.';
