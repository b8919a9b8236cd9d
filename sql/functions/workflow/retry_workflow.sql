create or replace function core.retry_workflow(p_run_id uuid)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now  timestamptz := core_private.now();
    v_run  core_private.workflow_runs := core_private.run_named(p_run_id, '{operate}');
    v_id   bigint;
    v_done boolean := false;
begin
    if v_run.run_id is null then
        perform core_private.fail_unknown_run(p_run_id);
    end if;
    perform core_private.require_read_committed('core.retry_workflow');
    if v_run.status = 'compensation_failed' then
        select l.dead_letter_id
          into v_id
          from core.dead_letters l
         where l.source_kind = 'workflow_compensation' and l.source_ref = jsonb_build_object('runId', p_run_id)
           and l.resolved_at is null;
        if v_id is not null then
            perform core_private.lock_dead_letter(v_id, null);
            perform core_private.recompensate(array[v_id], null);
            v_done := true;
        else
            v_done := core_private.resume_compensation(p_run_id, v_now);
        end if;
    elsif v_run.status = 'failed' and exists (
              select from core_private.workflow_runs r where r.run_id = v_run.parent_run_id) then
        -- It has told its parent, which waits for nothing any more.
        raise exception using errcode = 'NX006', column = 'p_run_id',
            message = format('run %s is a child, and its failure is that of step %s of run %s',
                             p_run_id, v_run.parent_key, v_run.parent_run_id),
            hint = format('Retry run %s, which has it go on.', v_run.parent_run_id);
    elsif v_run.status = 'failed' then
        v_done := core_private.resume_run(p_run_id, v_now);
    elsif v_run.finished_at is null then
        perform core_private.lock_run(p_run_id);
        update core_private.workflow_cursors c
           set state = case when v_run.status = 'compensating' then 'U' else 'R' end, deaths = 0, due_at = v_now
         where c.run_id = p_run_id and c.state = 'P';
        v_done := found;
        perform core_private.wake_workflows(v_run.namespace, v_now);
    end if;
    if v_done then
        perform core_private.audit('retry_workflow', v_run.namespace, p_run_id::text, null,
            jsonb_build_object('workflow', v_run.workflow, 'status', v_run.status));
    end if;
    return v_done;
end $$;
comment on function core.retry_workflow(uuid) is 'Goes on with a run: with a compensation that failed (its dead letter is then replayed), from the step that failed where nothing was undone, or with what was parked since processes died in it. Where that step is a child which failed, that goes on from where it did once the run comes to the step; where something of the child was undone, or no time is left to it, the step begins another one. A child that has failed is not retried by itself, since its parent has been told: retry that. False where there is nothing of the kind. Raises 55000 unless the transaction is read committed, NX006, NX117, NX217, NX227, NX401, NX402.';
