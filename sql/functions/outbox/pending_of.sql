create or replace function core_private.pending_of(p_lane_id integer, p_limit integer)
returns table (id bigint, key text, body_type text, bytes integer, created_at timestamptz)
language sql stable security definer rows 10
set search_path = pg_catalog, pg_temp
as $$
    select p.* from core_private.pending_in_lane(core_private.lane_now(p_lane_id), p_limit) p
$$;
comment on function core_private.pending_of(integer, integer) is 'Messages of a lane that have not ended. Whoever calls it has asked whether the caller may know.';
