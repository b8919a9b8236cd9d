create or replace function core_private.wake_workflows(p_namespace text, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.wake(core_private.workflow_key(p_namespace), p_now);
end $$;
comment on function core_private.wake_workflows(text, timestamptz) is 'Wakes nodes that wait for runs of workflows.';
