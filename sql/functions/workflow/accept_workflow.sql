create or replace function core.accept_workflow(p_run_id uuid, p_reason text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run core_private.workflow_runs := core_private.run_named(p_run_id, '{operate}');
    v_id  bigint;
begin
    perform core_private.check_reason(p_reason);
    if v_run.run_id is null then
        perform core_private.fail_unknown_run(p_run_id);
    end if;
    select l.dead_letter_id
      into v_id
      from core.dead_letters l
     where l.source_kind = 'workflow_compensation' and l.source_ref = jsonb_build_object('runId', p_run_id)
       and l.resolved_at is null;
    if v_id is null then
        return false;
    end if;
    perform core_private.lock_dead_letter(v_id, null);
    perform core_private.mark_resolved(array[v_id], 'handled_by_handler', p_reason);
    perform core_private.audit('accept_workflow', v_run.namespace, p_run_id::text, p_reason,
        jsonb_build_object('workflow', v_run.workflow, 'dead_letter_id', v_id));
    return true;
end $$;
comment on function core.accept_workflow(uuid, text) is 'Takes note that a compensation failed for good: the run stays compensation_failed, and its dead letter is resolved as handled_by_handler. False where there is none. Raises NX006, NX117, NX205, NX217, NX401, NX402.';
