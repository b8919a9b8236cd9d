create or replace function core_private.fail_unknown_namespace(p_namespace text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_namespace_name(p_namespace);
    raise exception using errcode = 'NX101', column = 'p_namespace',
        message = format('there is no namespace %s', quote_literal(p_namespace)),
        hint = format('select core.create_namespace(%L);', p_namespace);
end $$;
comment on function core_private.fail_unknown_namespace(text) is 'Raises NX001 for a name that cannot be, else NX101.';
