create or replace function core_private.workflow_key(p_namespace text)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select 'workflows:' || p_namespace
$$;
comment on function core_private.workflow_key(text) is 'By what nodes are woken for runs of workflows. No queue is named so.';
