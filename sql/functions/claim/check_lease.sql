create or replace function core_private.check_lease(p_lease interval)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_lease is null or p_lease <= interval '0' or p_lease > interval '1 day' then
        raise exception using errcode = 'NX006', column = 'p_lease',
            message = format('p_lease cannot be %s', coalesce(p_lease::text, 'NULL')),
            hint = 'It is more than 0 and at most 1 day.';
    end if;
end $$;
comment on function core_private.check_lease(interval) is 'Raises NX006 for a lease of no or too long a time.';
