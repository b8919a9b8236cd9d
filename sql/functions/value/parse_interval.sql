-- Durations are interval strings: a bare number would leave the unit to the reader.
create or replace function core_private.parse_interval(
    p_value jsonb, p_field text, p_min interval = '0', p_max interval = '100 years')
returns interval
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text     text := p_value #>> '{}';
    v_interval interval;
begin
    if jsonb_typeof(p_value) = 'string' and v_text !~ '^[[:space:]]*[-+]?[0-9.]+[[:space:]]*$' then
        begin
            v_interval := v_text::interval;
        exception when invalid_datetime_format or datetime_field_overflow or interval_field_overflow then
            v_interval := null;
        end;
    end if;
    if v_interval is null then
        raise exception using errcode = 'NX005', column = p_field,
            message = format('%s is not a duration: %s', p_field, left(p_value::text, 100)),
            hint = 'Give an interval string with its unit, such as "90s", "5 min" or "1 day".';
    end if;
    if v_interval < p_min or v_interval > p_max then
        raise exception using errcode = 'NX005', column = p_field,
            message = format('%s is out of range: %s', p_field, v_interval),
            hint = format('It may lie between %s and %s.', p_min, p_max);
    end if;
    return v_interval;
end $$;
comment on function core_private.parse_interval(jsonb, text, interval, interval) is 'An interval string as an interval; raises NX005.';
