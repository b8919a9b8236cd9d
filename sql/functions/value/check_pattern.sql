create or replace function core_private.check_pattern(p_pattern text, p_field text)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_pattern = '*'
       or p_pattern ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$'
       or p_pattern ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,196}[.:][*]$'
       or p_pattern ~ '^[A-Za-z0-9][.:][*]$' then
        return;
    end if;
    raise exception using errcode = 'NX008', column = p_field,
        message = format('pattern %s cannot be used', coalesce(quote_literal(left(p_pattern, 100)), 'NULL')),
        hint = 'Use an event type, "prefix.*", "prefix:*" or "*"; nothing else is a pattern.';
end $$;
comment on function core_private.check_pattern(text, text) is 'Raises NX008 unless it is a pattern.';
