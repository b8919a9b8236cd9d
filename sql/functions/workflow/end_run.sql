-- The end of a child is a signal for its parent: nothing of the parent is locked here.
create or replace function core_private.end_run(
    p_run uuid, p_status text, p_result jsonb, p_error jsonb, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_parent  uuid;
    v_answers uuid;
    v_space   text;
begin
    update core_private.workflow_runs r
       set status = p_status, result = p_result, error = p_error, finished_at = p_now, updated_at = p_now
     where r.run_id = p_run
    returning r.parent_run_id, r.answers, r.namespace into v_parent, v_answers, v_space;
    delete from core_private.workflow_cursors c where c.run_id = p_run;
    if v_parent is not null then
        insert into core_private.workflow_signals (namespace, run_id, name, payload, sent_at, sent_by)
        values (
            v_space, v_parent, 'child:' || v_answers,
            jsonb_build_object('runId', p_run, 'status', p_status, 'result', p_result, 'error', p_error), p_now,
            core_private.principal());
        perform core_private.wake_workflows(v_space, p_now);
    end if;
end $$;
comment on function core_private.end_run(uuid, text, jsonb, jsonb, timestamptz) is 'Ends a run, whose cursors the caller holds, and tells its parent.';
