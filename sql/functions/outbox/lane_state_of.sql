-- In PL/pgSQL, whose plan is kept: lists call it for each lane.
create or replace function core_private.lane_state_of(p_lane_id integer, p_count integer)
returns table (
    state text, seq bigint, foreign_server boolean, suspect_until bigint, attempts integer, last_error text,
    blocked_since timestamptz, next_at timestamptz, locked_by text, locked_until timestamptz,
    pending integer, oldest timestamptz)
language plpgsql stable security definer rows 1
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
    v_lane core_private.lanes := core_private.lane_now(p_lane_id);
begin
    if v_lane.lane_id is null then
        return; -- it has gone meanwhile
    end if;
    pending := 0;
    if p_count > 0 then
        select count(*), min(x.created_at) into pending, oldest from core_private.pending_in_lane(v_lane, p_count) x;
    end if;
    state := v_lane.state;
    seq := v_lane.seq;
    foreign_server := core_private.of_another_server(v_lane, core_private.cluster_id());
    suspect_until := v_lane.suspect_until;
    attempts := v_lane.attempts;
    last_error := v_lane.last_error;
    blocked_since := v_lane.blocked_since;
    next_at := v_lane.next_at;
    locked_by := v_lane.locked_by;
    locked_until := v_lane.locked_until;
    return next;
end $$;
comment on function core_private.lane_state_of(integer, integer) is 'How far a lane is, with its messages that have not ended, counted to p_count. Whoever calls it has asked whether the caller may know.';
