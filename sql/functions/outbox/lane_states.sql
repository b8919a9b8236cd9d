-- In one statement for all lanes of a consumer, since one for each costs many times what it finds. What is late in a
-- lane is told as in late_in_lane, and by that where it may be much.
create or replace function core_private.lane_states(p_consumer_id integer, p_count integer)
returns table (
    lane_id integer, lane integer, generation integer, waits boolean, state text, seq bigint, foreign_server boolean,
    suspect_until bigint, attempts integer, last_error text, blocked_since timestamptz, next_at timestamptz,
    locked_by text, locked_until timestamptz, pending integer, oldest timestamptz)
language plpgsql stable security definer rows 8
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
    v_top     bigint := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_first   bigint := core_private.lane_messages_from();
    v_cluster bigint := core_private.cluster_id();
    v_next    xid8 := pg_snapshot_xmax(pg_current_snapshot());
begin
    return query
        with newest as materialized (
            select k.lane, k.generation, v.whole, (v.whole).*
              from core_private.consumer_lanes k
             cross join lateral (
                 select l as whole
                   from core_private.lanes l
                  where l.lane_id = k.lane_id
                  order by l.ver desc
                  limit 1) v
             where k.consumer_id = p_consumer_id),
        generations as materialized (
            select g.generation, core_private.lanes_wait(p_consumer_id, g.generation) as waits
              from (select distinct n.generation from newest n) g),
        found as (
            select n.*,
                   case when p_count = 0 or pg_snapshot_xmin(n.done)::text::bigint >= n.done_next::text::bigint
                        then '{}'
                        when n.done_next::text::bigint - pg_snapshot_xmax(n.done)::text::bigint > 64
                        then core_private.late_in_lane(n.whole)
                        else array(select x from pg_snapshot_xip(n.done) x)
                             || array(
                                    select g::text::xid8
                                      from generate_series(
                                               pg_snapshot_xmax(n.done)::text::bigint,
                                               n.done_next::text::bigint - 1) g) end as late
              from newest n)
        select f.lane_id, f.lane, f.generation, g.waits, f.state, f.seq,
               (f.cluster <> v_cluster or greatest(f.done_next, f.cur_next) > v_next)
               and core_private.of_another_server(f.whole, v_cluster),
               f.suspect_until, f.attempts, f.last_error, f.blocked_since, f.next_at, f.locked_by, f.locked_until,
               p.pending, p.oldest
          from found f
          join generations g on g.generation = f.generation
         cross join lateral (
             select count(*)::integer as pending, min(u.created_at) as oldest
               from ((select m.id, m.created_at
                        from core_private.lane_messages m
                       where p_count > 0 and m.lane_id = f.lane_id
                         and m.id > f.done_floor and m.id >= v_first and m.id <= v_top
                         and not pg_visible_in_snapshot(m.xid, f.done)
                         and (f.cur is null or m.id > f.pos or not pg_visible_in_snapshot(m.xid, f.cur))
                       order by m.id
                       limit p_count)
                      union all
                     (select y.*
                        from unnest(f.late) x
                       cross join lateral (
                          select m.id, m.created_at
                            from core_private.lane_messages m
                           where m.xid = x and m.lane_id = f.lane_id
                             and m.id >= v_first and m.id <= f.done_floor and m.id <= v_top
                             and (f.cur is null or m.id > f.pos or not pg_visible_in_snapshot(m.xid, f.cur))
                           order by m.id
                           limit p_count) y)
                     limit p_count) u) p;
end $$;
comment on function core_private.lane_states(integer, integer) is 'How far the lanes of a consumer are, each with its messages that have not ended, counted to p_count. Whoever calls it has asked whether the caller may know.';
