create or replace function core_private.fail_unknown_run(p_run_id uuid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX117', column = 'p_run_id',
        message = format('there is no run %s', coalesce(p_run_id::text, 'NULL')),
        hint = 'Runs are listed in core.workflow_runs, until workflow_retention of their namespace after their end.';
end $$;
comment on function core_private.fail_unknown_run(uuid) is 'Raises NX117.';
