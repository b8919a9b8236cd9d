-- The caller holds the cursors from the run's to this one.
create or replace function core_private.run_failed(p_run uuid, p_path text, p_error jsonb, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_path = '' then
        perform core_private.begin_undo(p_run, 'failed', p_error, p_now);
    else
        delete from core_private.workflow_cursors c where c.run_id = p_run and c.path = p_path;
        perform core_private.branch_over(p_run, p_path, true, p_error, p_now);
    end if;
end $$;
comment on function core_private.run_failed(uuid, text, jsonb, timestamptz) is 'A step was given up: its run is undone, or its branch has failed.';
