create or replace function core_private.parse_from(p_value jsonb, p_field text)
returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_time timestamptz;
begin
    if p_value is null or p_value = '"now"' then
        return null;
    elsif p_value = '"beginning"' then
        return '-infinity';
    elsif jsonb_typeof(p_value) = 'string' and p_value #>> '{}' ~ '^[0-9]{4}-' then
        v_time := core_private.parse_time(p_value, p_field);
    end if;
    if v_time <= core_private.now() is not true then
        perform core_private.fail_option(p_field, p_value,
            'Give "now", "beginning", or a time of the past with an offset, such as "2027-01-31T08:00:00Z".');
    end if;
    return v_time;
end $$;
comment on function core_private.parse_from(jsonb, text) is 'Where in the log to begin: -infinity for "beginning", a time, NULL for "now". Raises NX005.';
