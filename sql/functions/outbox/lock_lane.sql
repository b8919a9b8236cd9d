-- Another one's change is waited for, and then seen: the row is the same one.
create or replace function core_private.lock_lane(p_lane_id integer)
returns core_private.lanes
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_lane core_private.lanes;
begin
    select *
      into v_lane
      from core_private.lanes l
     where l.lane_id = p_lane_id
     order by l.ver desc limit 1
       for no key update;
    return v_lane;
end $$;
comment on function core_private.lock_lane(integer) is 'The newest version of a lane, which is locked.';
