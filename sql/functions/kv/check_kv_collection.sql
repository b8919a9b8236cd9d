create or replace function core_private.check_kv_collection(p_collection text)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_collection ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$' collate "C" then
        return;
    end if;
    raise exception using errcode = 'NX016', column = 'p_collection',
        message = format('collection %s cannot be used%s',
            coalesce(quote_literal(left(p_collection, 100)), 'NULL'),
            case
                when p_collection is null then ': it is NULL'
                when p_collection = '' then ': it is empty'
                when octet_length(p_collection) > 100 then
                    format(': it has %s bytes, at most 100 are allowed', octet_length(p_collection))
                when p_collection ~ '[^A-Za-z0-9._:/-]' collate "C" then
                    format(': character %s is not allowed',
                        quote_literal((regexp_match(p_collection, '[^A-Za-z0-9._:/-]' collate "C"))[1]))
                else ': it must begin with a letter or a digit' end),
        hint = 'Use up to 100 of A-Z, a-z, 0-9 and ". _ : / -", a letter or digit first.';
end $$;
comment on function core_private.check_kv_collection(text) is 'Raises NX016 unless there can be such a collection.';
