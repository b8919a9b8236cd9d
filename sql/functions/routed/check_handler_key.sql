create or replace function core_private.check_handler_key(p_key text, p_field text = 'p_key')
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if (p_key ~ '^(go|sql|webhook|workflow):[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$') is not true then
        raise exception using errcode = 'NX006', column = p_field,
            message = format('%s is no key of a handler', coalesce(quote_literal(left(p_key, 150)), 'NULL')),
            hint = 'Give go:, sql:, webhook: or workflow: and a name of 1 to 100 of A-Z, a-z, 0-9 and ". _ / -", '
                || 'a letter or digit first.';
    end if;
    return split_part(p_key, ':', 1);
end $$;
comment on function core_private.check_handler_key(text, text) is 'The kind of a handler by its key. Raises NX006.';
