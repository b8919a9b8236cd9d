create or replace function core_private.check_claim_time(p_for interval)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_for is null or p_for not between interval '1 second' and interval '1 day' then
        raise exception using errcode = 'NX006', column = 'p_for',
            message = format('p_for cannot be %s', coalesce(p_for::text, 'NULL')),
            hint = 'Give 1 second to 1 day.';
    end if;
end $$;
comment on function core_private.check_claim_time(interval) is 'Raises NX006 unless a dead letter can be claimed for so long.';
