create or replace function core_private.fail_filter(p_key text, p_value jsonb, p_hint text)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX009', column = p_key,
        message = format('%s cannot be %s', p_key, left(p_value::text, 100)), hint = p_hint;
end $$;
comment on function core_private.fail_filter(text, jsonb, text) is 'Raises NX009 for a key of a filter that has no possible value.';
