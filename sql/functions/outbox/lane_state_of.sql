create or replace function core_private.lane_state_of(p_lane_id integer, p_count integer)
returns table (
    state text, seq bigint, foreign_server boolean, suspect_until bigint, attempts integer, last_error text,
    blocked_since timestamptz, next_at timestamptz, locked_by text, locked_until timestamptz,
    pending integer, oldest timestamptz)
language sql stable security definer rows 1
set search_path = pg_catalog, pg_temp
as $$
    select l.state, l.seq, core_private.of_another_server(l, core_private.cluster_id()), l.suspect_until, l.attempts,
           l.last_error, l.blocked_since, l.next_at, l.locked_by, l.locked_until, p.n, p.oldest
      from core_private.lane_now(p_lane_id) l
     cross join lateral (
        select count(*)::integer as n, min(x.created_at) as oldest
          from core_private.pending_in_lane(l, p_count) x
         where p_count > 0) p
$$;
comment on function core_private.lane_state_of(integer, integer) is 'How far a lane is, with its messages that have not ended, counted to p_count. Whoever calls it has asked whether the caller may know.';
