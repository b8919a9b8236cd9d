create or replace function core_private.check_event_type(p_event_type text, p_field text = 'p_event_type')
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if core_private.is_event_type(p_event_type) then
        return;
    end if;
    raise exception using errcode = 'NX002', column = p_field,
        message = format('event type %s cannot be used%s',
            coalesce(quote_literal(left(p_event_type, 100)), 'NULL'),
            case
                when p_event_type is null then ': it is NULL'
                when p_event_type = '' then ': it is empty'
                when octet_length(p_event_type) > 200 then
                    format(': it has %s bytes, at most 200 are allowed', octet_length(p_event_type))
                when p_event_type ~ '[^A-Za-z0-9._:/-]' then
                    format(': character %s is not allowed',
                        quote_literal((regexp_match(p_event_type, '[^A-Za-z0-9._:/-]'))[1]))
                else ': it must begin with a letter or a digit' end),
        hint = 'Use up to 200 of A-Z, a-z, 0-9 and ". _ : / -", a letter or digit first.';
end $$;
comment on function core_private.check_event_type(text, text) is 'Raises NX002 unless it can be an event type.';
