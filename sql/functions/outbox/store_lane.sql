create or replace function core_private.store_lane(p_lane core_private.lanes)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
    update core_private.lanes l
       set ver = l.ver + 1, cluster = p_lane.cluster, seq = p_lane.seq,
           done = p_lane.done, done_floor = p_lane.done_floor, done_next = p_lane.done_next, done_top = p_lane.done_top,
           cur = p_lane.cur, cur_floor = p_lane.cur_floor, cur_next = p_lane.cur_next, cur_top = p_lane.cur_top,
           pos = p_lane.pos, handed = p_lane.handed, attempts = p_lane.attempts, last_error = p_lane.last_error,
           safe_until = p_lane.safe_until, suspect_until = p_lane.suspect_until, next_at = p_lane.next_at,
           state = p_lane.state, blocked_since = p_lane.blocked_since,
           token = p_lane.token, locked_by = p_lane.locked_by, locked_until = p_lane.locked_until
     where l.lane_id = p_lane.lane_id and l.ver = p_lane.ver;
    if p_lane.lane_id is null then -- it was dropped while its lock was waited for
        perform core_private.fail_lane('p_lane_id', null);
    elsif not found then
        raise exception using errcode = 'XX000', message = format('lane %s changed under its lock', p_lane.lane_id);
    end if;
end $$;
comment on function core_private.store_lane(core_private.lanes) is 'Writes a new version of a lane that the caller has locked. Raises NX115.';
