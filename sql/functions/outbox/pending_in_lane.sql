-- In PL/pgSQL, whose plan is kept: whoever looks at many lanes calls it once for each. What can be seen has an id up to
-- the last that was drawn, so that the partitions that wait for later ones are not opened.
create or replace function core_private.pending_in_lane(p_lane core_private.lanes, p_limit integer)
returns table (id bigint, key text, body_type text, bytes integer, created_at timestamptz)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
    v_late  xid8[] := core_private.late_in_lane(p_lane);
    v_top   bigint := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_first bigint;
begin
    if v_late = '{}' then
        return query
            select m.id, m.key, m.body_type, octet_length(m.body), m.created_at
              from core_private.lane_messages m
             where m.lane_id = p_lane.lane_id and m.id > p_lane.done_floor and m.id <= v_top
               and not pg_visible_in_snapshot(m.xid, p_lane.done)
               and (p_lane.cur is null or m.id > p_lane.pos or not pg_visible_in_snapshot(m.xid, p_lane.cur))
             order by m.id
             limit p_limit;
        return;
    end if;
    v_first := core_private.lane_messages_from();
    return query
        select u.id, u.key, u.body_type, octet_length(u.body), u.created_at
          from ((select m.id, m.key, m.body_type, m.body, m.created_at
                   from core_private.lane_messages m
                  where m.lane_id = p_lane.lane_id and m.id > p_lane.done_floor and m.id <= v_top
                    and not pg_visible_in_snapshot(m.xid, p_lane.done)
                    and (p_lane.cur is null or m.id > p_lane.pos or not pg_visible_in_snapshot(m.xid, p_lane.cur))
                  order by m.id
                  limit p_limit)
                 union all
                (select m.id, m.key, m.body_type, m.body, m.created_at
                   from unnest(v_late) x
                   join core_private.lane_messages m
                     on m.lane_id = p_lane.lane_id and m.xid = x and m.id >= v_first and m.id <= p_lane.done_floor
                  where p_lane.cur is null or m.id > p_lane.pos or not pg_visible_in_snapshot(m.xid, p_lane.cur)
                  order by m.id
                  limit p_limit)) u
         order by u.id
         limit p_limit;
end $$;
comment on function core_private.pending_in_lane(core_private.lanes, integer) is 'The messages of a lane that have not ended, the oldest first. Those of a later snapshot may come after younger ones of an earlier one.';
