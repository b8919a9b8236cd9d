create or replace function core_private.fail_unknown_workflow(p_namespace text, p_workflow text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX116', column = 'p_workflow',
        message = format('namespace %s has no workflow %s',
                         p_namespace, coalesce(quote_literal(left(p_workflow, 100)), 'NULL')),
        hint = 'A node that has it registers it when it starts; core.workflow_definitions lists those that there are.';
end $$;
comment on function core_private.fail_unknown_workflow(text, text) is 'Raises NX116.';
