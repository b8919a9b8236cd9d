create or replace function core_private.require_lane_held(
    p_lane core_private.lanes, p_token uuid, p_from bigint, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_lane.token is distinct from p_token or p_token is null or p_lane.locked_until <= p_now
       or p_from is distinct from p_lane.seq then
        raise exception using errcode = 'NX301', column = 'p_token',
            message = format('the lease of lane %s is lost', p_lane.lane_id),
            detail = 'Another node took the lane after the lease had ended, or its messages are settled already.',
            hint = 'Roll back: what was done for these messages is done again elsewhere.';
    end if;
end $$;
comment on function core_private.require_lane_held(core_private.lanes, uuid, bigint, timestamptz) is 'Raises NX301 unless the caller holds the lane, and it is where he thinks.';
