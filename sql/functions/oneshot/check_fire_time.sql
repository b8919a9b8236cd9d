create or replace function core_private.check_fire_time(p_at timestamptz, p_now timestamptz)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_at is null or not isfinite(p_at) or p_at > p_now + interval '100 years' then
        raise exception using errcode = 'NX006', column = 'p_at',
            message = format('p_at cannot be %s', coalesce(p_at::text, 'NULL')),
            hint = 'Give a time at most 100 years ahead; one that has passed fires at once.';
    end if;
end $$;
comment on function core_private.check_fire_time(timestamptz, timestamptz) is 'Raises NX006 unless an event can be scheduled for then.';
