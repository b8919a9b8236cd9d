-- Later than any bucket is full again it is where the clock was put back, or the rate was a slower one. Then there is
-- one delivery in it: an empty one would wait for a time that is far away.
create or replace function core_private.full_at(
    p_full_at timestamptz, p_every double precision, p_now timestamptz)
returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return case when p_full_at <= p_now or p_full_at is null then p_now
                when p_full_at > p_now + make_interval(secs => p_every + 1.001) then p_now + interval '1 second'
                else p_full_at end;
end $$;
comment on function core_private.full_at(timestamptz, double precision, timestamptz) is 'When the bucket of a rate is full again, as it was noted: not before p_now, and soon.';
