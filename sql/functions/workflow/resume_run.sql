-- Steps that were given up come anew; what was done in branches stays, and what was done in a child that failed, which
-- goes on when its step begins: one that went on before would be done where the parent never comes to the step, and
-- nothing would undo it. The time that the run has stood still while it had failed, else it would be over at once.
create or replace function core_private.resume_run(p_run uuid, p_now timestamptz)
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
     where r.run_id = p_run and r.status = 'failed'
       for update;
    if not found then
        return false;
    end if;
    perform core_private.refuse_compensated(p_run, null);
    update core_private.workflow_journal j
       set status = 'p', error = null, attempts = 0, completed_at = null
      from core_private.workflow_definitions d
     cross join lateral core_private.workflow_nodes(d.steps) n
     where j.run_id = p_run and j.status = 'f' and d.def_id = v_run.def_id and n.name = split_part(j.key, '#', 1)
       and n.kind in ('parallel', 'map') and not (n.kind = 'map' and j.result is null);
    update core_private.workflow_journal j
       set status = 'p', result = '{"resume": true}', error = null, attempts = 0, completed_at = null
      from core_private.workflow_definitions d
     cross join lateral core_private.workflow_nodes(d.steps) n
     where j.run_id = p_run and j.status = 'f' and d.def_id = v_run.def_id and n.name = split_part(j.key, '#', 1)
       and n.kind = 'child';
    delete from core_private.workflow_journal j where j.run_id = p_run and j.status = 'f';
    insert into core_private.workflow_cursors (run_id, path, def_id, pos, entered, due_at)
    values (p_run, '', v_run.def_id,
            (select count(*) from core_private.workflow_journal j where j.run_id = p_run),
            core_private.entered_by(p_run, v_run.def_id), p_now);
    update core_private.workflow_runs r
       set status = 'open', error = null, ending = null, finished_at = null, updated_at = p_now,
           timeout_at = r.timeout_at + (p_now - r.finished_at)
     where r.run_id = p_run;
    perform core_private.wake_workflows(v_run.namespace, p_now);
    return true;
end $$;
comment on function core_private.resume_run(uuid, timestamptz) is 'Has a run that failed go on from the step that failed, and marks a child that was this step to go on from where that failed; false if it has not failed. Raises NX227 where something was undone.';
