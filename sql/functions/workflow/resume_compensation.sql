create or replace function core_private.resume_compensation(p_run uuid, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run core_private.workflow_runs;
begin
    select *
      into v_run
      from core_private.workflow_runs r
     where r.run_id = p_run and r.status = 'compensation_failed'
       for update;
    if not found then
        return false;
    end if;
    delete from core_private.workflow_journal j
     where j.run_id = p_run and j.status = 'f' and right(j.key, 5) = '~undo';
    insert into core_private.workflow_cursors (run_id, path, def_id, pos, entered)
    values (p_run, '', v_run.def_id,
            (select count(*) from core_private.workflow_journal j where j.run_id = p_run),
            core_private.entered_by(p_run, v_run.def_id));
    update core_private.workflow_runs r
       set status = 'compensating', finished_at = null, error = r.error - 'compensation', updated_at = p_now
     where r.run_id = p_run;
    perform core_private.point_to_undo(p_run, false, p_now);
    perform core_private.wake_workflows(v_run.namespace, p_now);
    return true;
end $$;
comment on function core_private.resume_compensation(uuid, timestamptz) is 'Goes on with the compensation of a run that failed for good; false if there is none.';
