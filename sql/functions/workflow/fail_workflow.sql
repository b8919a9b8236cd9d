create or replace function core_private.fail_workflow(p_message text, p_hint text, p_field text = 'p_steps')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX019', column = p_field, message = p_message, hint = p_hint;
end $$;
comment on function core_private.fail_workflow(text, text, text) is 'Raises NX019.';
