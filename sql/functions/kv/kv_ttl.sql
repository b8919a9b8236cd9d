create or replace function core_private.kv_ttl(p_options jsonb)
returns interval
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return case when p_options ? 'ttl'
                then core_private.parse_interval(p_options -> 'ttl', 'ttl', '1 ms', '10 years') end;
end $$;
comment on function core_private.kv_ttl(jsonb) is 'The option ttl; NULL if it is not given. Raises NX005.';
