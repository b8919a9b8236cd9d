-- The caller holds the cursors from the run's to this one.
create or replace function core_private.leave_cancelled(p_run uuid, p_path text, p_cancel text, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_open integer := 0;
begin
    if p_path <> '' then
        delete from core_private.workflow_cursors c where c.run_id = p_run and c.path = p_path;
        update core_private.workflow_cursors c
           set open = c.open - 1
         where c.run_id = p_run and c.path = ''
        returning c.open into v_open;
    end if;
    if v_open = 0 then
        perform core_private.end_cancelled(p_run, p_cancel, p_now);
    end if;
end $$;
comment on function core_private.leave_cancelled(uuid, text, text, timestamptz) is 'A cursor of a cancelled run is free now: the last one ends the run.';
