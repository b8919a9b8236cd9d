create or replace function core_private.pending_in_lane(p_lane core_private.lanes, p_limit integer)
returns table (id bigint, key text, body_type text, bytes integer, created_at timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
    select u.id, u.key, u.body_type, octet_length(u.body), u.created_at
      from ((select m.*
               from core_private.lane_messages m
              where m.lane_id = p_lane.lane_id and m.id > p_lane.done_floor
                and not pg_visible_in_snapshot(m.xid, p_lane.done)
                and (p_lane.cur is null or m.id > p_lane.pos or not pg_visible_in_snapshot(m.xid, p_lane.cur))
              order by m.id
              limit p_limit)
             union all
            (select m.*
               from unnest(core_private.late_in_lane(p_lane)) x
               join core_private.lane_messages m
                 on m.lane_id = p_lane.lane_id and m.xid = x and m.id <= p_lane.done_floor
              where p_lane.cur is null or m.id > p_lane.pos or not pg_visible_in_snapshot(m.xid, p_lane.cur)
              order by m.id
              limit p_limit)) u
     order by u.id
     limit p_limit
$$;
comment on function core_private.pending_in_lane(core_private.lanes, integer) is 'The messages of a lane that have not ended, the oldest first. Those of a later snapshot may come after younger ones of an earlier one.';
