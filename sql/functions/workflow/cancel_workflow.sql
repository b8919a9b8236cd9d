create or replace function core.cancel_workflow(p_run_id uuid, p_compensate boolean = true, p_reason text = null)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
    v_run core_private.workflow_runs;
    v_is  text;
begin
    p_run_id := core_private.current_run(p_run_id);
    v_run := core_private.run_named(p_run_id, '{operate}');
    if p_compensate is null then
        raise exception using errcode = 'NX006', column = 'p_compensate', message = 'p_compensate is NULL',
            hint = 'Give true to undo what was done, false to leave it.';
    end if;
    if v_run.run_id is null then
        return 'not_found';
    elsif v_run.finished_at is not null then
        return 'already_finished';
    end if;
    perform core_private.require_read_committed('core.cancel_workflow');
    if not p_compensate and v_run.status = 'compensating' and core_private.give_up_undo(p_run_id, p_reason, v_now) then
        v_is := 'cancelled';
    else
        v_is := core_private.cancel_run(
            p_run_id, case when p_compensate then 'compensate' else 'plain' end,
            jsonb_build_object('reason', 'cancelled', 'error', left(core_private.clean_text(p_reason), 8192)), v_now);
    end if;
    if v_is = 'cancelled' then
        perform core_private.audit('cancel_workflow', v_run.namespace, p_run_id::text, p_reason,
            jsonb_build_object('workflow', v_run.workflow, 'compensate', p_compensate));
    end if;
    return v_is;
end $$;
comment on function core.cancel_workflow(uuid, boolean, text) is 'Ends a run, and the runs that are steps of it: cancelled; compensating (it is being undone already, for another reason), already_finished or not_found. What waits ends at once, a step that runs is waited for. What was done is undone, the last first, unless p_compensate is false. With false the compensation of a run that is being undone is given up: it ends as compensation_failed, with a dead letter. Raises 55000 unless the transaction is read committed, NX006, NX401, NX402.';
