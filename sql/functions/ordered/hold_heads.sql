-- Waited for as in core_private.hold_leases, and in the order in which they are settled.
create or replace function core_private.hold_heads(
    p_ids bigint[], p_lane_ids integer[], p_untils timestamptz[], p_now timestamptz)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_held bigint[] := '{}';
    v_lane core_private.lanes;
    r      record;
begin
    for r in
        select u.id, u.lane_id, u.until
          from unnest(p_ids, p_lane_ids, p_untils) u(id, lane_id, until)
         order by u.lane_id
    loop
        v_lane := core_private.lock_lane(r.lane_id);
        if v_lane.token is not null and v_lane.locked_until = r.until and v_lane.locked_until > p_now
           and r.id = (select h.id from core_private.read_lane(v_lane, 1) h) then
            v_held := v_held || r.id;
        end if;
    end loop;
    return v_held;
end $$;
comment on function core_private.hold_heads(bigint[], integer[], timestamptz[], timestamptz) is 'Locks the lanes that these messages are the next of and whose leases, which end then, still hold, until the transaction ends; returns the messages.';
