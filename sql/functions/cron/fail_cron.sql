create or replace function core_private.fail_cron(
    p_expression text, p_column text, p_field text, p_position integer, p_problem text, p_hint text)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX011', column = p_column, hint = p_hint,
        message = format('cron expression%s: %s, position %s: %s',
            case when p_expression ~ '^[ -~]{1,100}$' then format(' "%s"', p_expression) else '' end,
            p_field, p_position, p_problem);
end $$;
comment on function core_private.fail_cron(text, text, text, integer, text, text) is 'Raises NX011: which field of the expression, at which character, what is wrong and how to mend it.';
