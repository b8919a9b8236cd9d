create or replace function core_private.parse_time(p_value jsonb, p_field text)
returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text text := p_value #>> '{}';
    v_time timestamptz;
begin
    -- Without an offset the session's zone would decide.
    if jsonb_typeof(p_value) = 'string'
       and v_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+ ?(Z|[-+][0-9]{2}(:?[0-9]{2}){0,2})$' then
        begin
            v_time := v_text::timestamptz;
        exception when invalid_datetime_format or datetime_field_overflow or invalid_time_zone_displacement_value then
            v_time := null;
        end;
    end if;
    -- A later year has no ISO 8601 form that every reader takes.
    if v_time is null or v_time >= '10000-01-01Z' then
        raise exception using errcode = 'NX005', column = p_field,
            message = format('%s is not a time with an offset: %s', p_field, left(p_value::text, 100)),
            hint = 'Give an ISO 8601 time such as "2027-01-31T08:00:00Z" or "2027-01-31T08:00:00+01:00".';
    end if;
    return v_time;
end $$;
comment on function core_private.parse_time(jsonb, text) is 'An ISO 8601 time with offset as a timestamptz; raises NX005.';
