-- Without a lock and without a trace, so that who is idle writes nothing.
create or replace function core_private.has_more(p_lane core_private.lanes)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
    if p_lane.cur is not null then
        return true; -- whether anything is left of that is for who holds the lane to say
    end if;
    return exists (
               select
                 from core_private.lane_messages m
                where m.lane_id = p_lane.lane_id and m.id > p_lane.done_floor
                  and not pg_visible_in_snapshot(m.xid, p_lane.done))
        or exists (
               select
                 from unnest(core_private.late_in_lane(p_lane)) x
                 join core_private.lane_messages m
                   on m.lane_id = p_lane.lane_id and m.xid = x and m.id <= p_lane.done_floor);
end $$;
comment on function core_private.has_more(core_private.lanes) is 'Whether there may be a message that has not ended in a lane.';
