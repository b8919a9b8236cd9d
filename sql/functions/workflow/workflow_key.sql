-- Not pinned, so that it is inlined.
create or replace function core_private.workflow_key(p_namespace text)
returns text
language sql immutable parallel safe
as $$
    select 'workflows:' operator(pg_catalog.||) p_namespace
$$;
comment on function core_private.workflow_key(text) is 'By what nodes are woken for runs of workflows. No queue is named so.';
