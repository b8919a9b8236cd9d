-- The next messages of the snapshot in hand. Beyond cur_top there are none of them, and up to done_floor only those
-- of transactions that were late.
create or replace function core_private.read_lane(p_lane core_private.lanes, p_limit integer)
returns table (id bigint, key text, body bytea, body_type text, created_at timestamptz)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
    v_late  xid8[] := core_private.late_in_lane(p_lane, p_lane.cur);
    v_first bigint;
begin
    if v_late = '{}' then
        return query
            select m.id, m.key, m.body, m.body_type, m.created_at
              from core_private.lane_messages m
             where m.lane_id = p_lane.lane_id
               and m.id > greatest(p_lane.done_floor, p_lane.pos) and m.id <= p_lane.cur_top
               and pg_visible_in_snapshot(m.xid, p_lane.cur) and not pg_visible_in_snapshot(m.xid, p_lane.done)
             order by m.id
             limit p_limit;
        return;
    end if;
    v_first := greatest(core_private.lane_messages_from() - 1, p_lane.pos);
    return query
        select u.id, u.key, u.body, u.body_type, u.created_at
          from ((select m.id, m.key, m.body, m.body_type, m.created_at
                   from core_private.lane_messages m
                  where m.lane_id = p_lane.lane_id
                    and m.id > greatest(p_lane.done_floor, p_lane.pos) and m.id <= p_lane.cur_top
                    and pg_visible_in_snapshot(m.xid, p_lane.cur) and not pg_visible_in_snapshot(m.xid, p_lane.done)
                  order by m.id
                  limit p_limit)
                 union all
                select y.*
                  from unnest(v_late) x
                 cross join lateral (
                     select m.id, m.key, m.body, m.body_type, m.created_at
                       from core_private.lane_messages m
                      where m.lane_id = p_lane.lane_id and m.xid = x
                        and m.id > v_first and m.id <= p_lane.done_floor
                      order by m.id
                      limit p_limit) y) u
         order by u.id
         limit p_limit;
end $$;
comment on function core_private.read_lane(core_private.lanes, integer) is 'The next messages of what a lane has in hand, in the order of their ids.';
