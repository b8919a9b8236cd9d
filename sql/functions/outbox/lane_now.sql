-- Read at the end of the index, and not by a plan that has forgotten how many versions there are.
create or replace function core_private.lane_now(p_lane_id integer)
returns core_private.lanes
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_lane core_private.lanes;
begin
    select * into v_lane from core_private.lanes l where l.lane_id = p_lane_id order by l.ver desc limit 1;
    return v_lane;
end $$;
comment on function core_private.lane_now(integer) is 'The newest version of a lane.';
