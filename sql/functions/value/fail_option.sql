create or replace function core_private.fail_option(p_field text, p_value jsonb, p_hint text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX005', column = p_field,
        message = format('%s cannot be %s', p_field, coalesce(left(p_value::text, 100), 'NULL')), hint = p_hint;
end $$;
comment on function core_private.fail_option(text, jsonb, text) is 'Raises NX005 for the value of an option.';
