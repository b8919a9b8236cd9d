-- Transactions that done does not see although they may have drawn an id that it had passed: those that it knows as
-- running, and those that began after the last one it knows of but before the transaction that took it. The latter
-- are looked for among the messages, since most of them have none: one by one where they are few, as they are but for
-- subtransactions, since they may have many messages in other lanes. In PL/pgSQL, whose plan is kept.
create or replace function core_private.late_in_lane(p_lane core_private.lanes, p_seen pg_snapshot = null)
returns xid8[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    v_from  bigint := pg_snapshot_xmax(p_lane.done)::text::bigint;
    v_next  bigint := p_lane.done_next::text::bigint;
    v_late  xid8[] := '{}';
    v_first bigint;
begin
    if pg_snapshot_xmin(p_lane.done) < pg_snapshot_xmax(p_lane.done) then
        v_late := array(
            select x
              from pg_snapshot_xip(p_lane.done) x
             where p_seen is null or pg_visible_in_snapshot(x, p_seen));
    end if;
    if v_from >= v_next then
        return v_late;
    end if;
    v_first := core_private.lane_messages_from();
    if v_next - v_from <= 64 then
        return v_late || array(
            select u.x
              from (select g::text::xid8 as x from generate_series(v_from, v_next - 1) g offset 0) u
             where (p_seen is null or pg_visible_in_snapshot(u.x, p_seen))
               and (select true -- for each by the index, and not as a join
                      from core_private.lane_messages m
                     where m.xid = u.x and m.lane_id = p_lane.lane_id
                       and m.id >= v_first and m.id <= p_lane.done_floor
                     limit 1));
    end if;
    return v_late || array(
        select distinct m.xid
          from core_private.lane_messages m
         where m.lane_id = p_lane.lane_id and m.id >= v_first and m.id <= p_lane.done_floor
           and m.xid >= pg_snapshot_xmax(p_lane.done) and m.xid < p_lane.done_next
           and (p_seen is null or pg_visible_in_snapshot(m.xid, p_seen)));
end $$;
comment on function core_private.late_in_lane(core_private.lanes, pg_snapshot) is 'Transactions whose messages in a lane may have ids that the lane has passed; with p_seen those that it sees.';
