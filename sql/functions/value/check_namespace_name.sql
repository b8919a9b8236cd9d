-- The names are those of relations too: pgmq adds suffixes of its own, and "-" becomes "_" in them.
create or replace function core_private.check_namespace_name(
    p_name text, p_code text = 'NX001', p_field text = 'p_namespace')
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_flat text := replace(p_name, '-', '_');
    v_why  text;
begin
    v_why := case
        when p_name is null then 'it is NULL'
        when p_name = '' then 'it is empty'
        when octet_length(p_name) > 30 then format('it has %s bytes, at most 30 are allowed', octet_length(p_name))
        when p_name ~ '[^a-z0-9_-]' then
            format('character %s is not allowed', quote_literal((regexp_match(p_name, '[^a-z0-9_-]'))[1]))
        when p_name !~ '^[a-z]' then 'it must begin with a letter a-z'
        when v_flat ~ '__' then 'two separators stand in a row'
        when v_flat ~ '_$' then 'it ends in a separator'
        when v_flat = 'nexus' then 'it is reserved'
        when v_flat ~ '(_dlq|_pkey|_vt_idx|_msg_id_seq|_default|_p[0-9]+)$' then
            format('it ends in %s, which names a relation',
                (regexp_match(v_flat, '(_dlq|_pkey|_vt_idx|_msg_id_seq|_default|_p[0-9]+)$'))[1])
    end;
    if v_why is not null then
        raise exception using errcode = p_code, column = p_field,
            message = format('name %s cannot be used: %s', coalesce(quote_literal(left(p_name, 100)), 'NULL'), v_why),
            hint = 'Use up to 30 of a-z, 0-9, "_" and "-", a letter first, '
                || 'no two separators in a row and none at the end.';
    end if;
end $$;
comment on function core_private.check_namespace_name(text, text, text) is 'Raises unless the name can be one of a namespace or consumer.';
