-- Without a lock and without a trace, so that who is idle writes nothing, and in one statement, since one for each lane
-- costs more than what it finds. Whatever can be seen has an id up to the last that was drawn: with that said, the
-- partitions that wait for later ones are not opened. What is late in a lane is asked as in late_in_lane.
create or replace function core_private.lanes_with_work(
    p_consumer_id integer, p_generation integer, p_any boolean = false, p_lanes integer[] = null)
returns table (lane_id integer, lane integer, next_at timestamptz)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
    v_top   bigint := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_first bigint := core_private.lane_messages_from();
    v_open  integer := core_private.open_generation(p_consumer_id, p_generation);
begin
    return query
        with free as materialized (
            select c.lane, v.*
              from core_private.consumer_lanes c
              join core.consumers k on k.consumer_id = c.consumer_id and (p_any or k.state = 'active')
             cross join lateral (
                 select l.*
                   from core_private.lanes l
                  where l.lane_id = c.lane_id
                  order by l.ver desc
                  limit 1) v
             where c.consumer_id = p_consumer_id and (p_lanes is null or c.lane_id = any (p_lanes))
               and (p_any or c.generation <= v_open and v.state = 'active'))
        select f.lane_id, f.lane, greatest(f.next_at, case when f.token is not null then f.locked_until end)
          from free f
         where f.cur is not null -- whether anything is left of that is for who holds the lane to say
            or exists (
                   select
                     from core_private.lane_messages m
                    where m.lane_id = f.lane_id and m.id > f.done_floor and m.id >= v_first and m.id <= v_top
                      and not pg_visible_in_snapshot(m.xid, f.done))
            or exists (
                   select
                     from pg_snapshot_xip(f.done) x
                    where (select true -- as a join it may read all that the lane ever had
                             from core_private.lane_messages m
                            where m.lane_id = f.lane_id and m.xid = x
                              and m.id >= v_first and m.id <= f.done_floor and m.id <= v_top
                            limit 1))
            -- most have nobody between the end of their snapshot and who took it
            or case f.done_next::text::bigint - pg_snapshot_xmax(f.done)::text::bigint > 64
               when true then true -- who fetches looks, and knows the next time
               else exists (
                   select
                     from generate_series(pg_snapshot_xmax(f.done)::text::bigint, f.done_next::text::bigint - 1) g
                    where (select true
                             from core_private.lane_messages m
                            where m.lane_id = f.lane_id and m.xid = g::text::xid8
                              and m.id >= v_first and m.id <= f.done_floor and m.id <= v_top
                            limit 1))
               end;
end $$;
comment on function core_private.lanes_with_work(integer, integer, boolean, integer[]) is 'Lanes that may have messages, of all or of p_lanes, with the time from which on they can be taken; with p_any also those that are paused or have to wait for others.';
