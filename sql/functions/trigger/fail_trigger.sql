create or replace function core_private.fail_trigger(p_field text, p_message text, p_hint text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX014', column = p_field, message = p_message, hint = p_hint;
end $$;
comment on function core_private.fail_trigger(text, text, text) is 'Raises NX014.';
