-- A collection is a part of event types: changes of its keys are to have names.
create or replace function core_private.check_kv_key(p_collection text, p_key text)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_kv_collection(p_collection);
    if p_key = '' or p_key is null or octet_length(p_key) > 512 or p_key ~ E'[\\x01-\\x1f\\x7f]' collate "C" then
        raise exception using errcode = 'NX016', column = 'p_key',
            message = format('key %s cannot be used%s',
                coalesce(quote_literal(left(p_key, 100)), 'NULL'),
                case
                    when p_key is null then ': it is NULL'
                    when p_key = '' then ': it is empty'
                    when octet_length(p_key) > 512 then
                        format(': it has %s bytes, at most 512 are allowed', octet_length(p_key))
                    else ': it holds a control character' end),
            hint = 'Use up to 512 bytes of text without control characters.';
    end if;
end $$;
comment on function core_private.check_kv_key(text, text) is 'Raises NX016 unless there can be such a key in such a collection.';
