-- Accept only what a Go consumer can decode exactly. The cheap looks at the text come first: a number beyond 1e308
-- needs 309 digits in jsonb's text, and a nesting of 1,001 needs that many brackets. translate() would do both in one
-- go and take ten times as long.
create or replace function core_private.check_payload(p_payload jsonb, p_max_bytes integer, p_field text = 'p_payload')
returns integer
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text  text := p_payload::text;
    v_bytes integer := octet_length(v_text);
    v_what  text;
begin
    if v_bytes < 255 then
        return v_bytes;
    end if;
    v_what := case p_field when 'p_value' then 'value' when 'p_reply' then 'reply' else 'payload' end;
    if v_bytes is null then
        raise exception using errcode = 'NX003', column = p_field, message = 'the payload is SQL NULL',
            hint = 'Leave it out for {}, or pass ''null''::jsonb.';
    end if;
    if v_bytes > p_max_bytes then
        raise exception using errcode = 'NX601', column = p_field,
            message = format('the %s has %s bytes, at most %s are allowed', v_what, v_bytes, p_max_bytes),
            hint = 'Store the large part elsewhere and give a reference, '
                || 'or raise max_payload_bytes with core.alter_namespace.';
    end if;
    if v_text ~ '[0-9]{255}[0-9]{54}'
       and jsonb_path_exists(p_payload,
           'strict $.** ? (@.type() == "number" && (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308))') then
        raise exception using errcode = 'NX003', column = p_field,
            message = format('the %s holds a number beyond 1e308', v_what),
            hint = 'Send it as a string.';
    end if;
    if v_bytes > 2000 and v_bytes - octet_length(replace(replace(v_text, '[', ''), '{', '')) > 1000
       and jsonb_path_exists(p_payload, 'strict $.**{1000} ? (@.type() == "array" || @.type() == "object")') then
        raise exception using errcode = 'NX003', column = p_field,
            message = format('the %s is nested deeper than 1,000 levels', v_what),
            hint = 'Flatten it, or send the deep part as a string.';
    end if;
    return v_bytes;
end $$;
comment on function core_private.check_payload(jsonb, integer, text) is 'Bytes of the payload''s text; raises NX003 or NX601 when it cannot be delivered exactly.';
