create or replace function core_private.check_kv_version(p_version bigint)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_version is null or p_version < 0 then
        raise exception using errcode = 'NX006', column = 'p_version',
            message = format('p_version cannot be %s', coalesce(p_version::text, 'NULL')),
            hint = 'Give the version that core.kv_get returned, or 0 for a key that is not there.';
    end if;
end $$;
comment on function core_private.check_kv_version(bigint) is 'Raises NX006 unless a key can have that version, or 0.';
