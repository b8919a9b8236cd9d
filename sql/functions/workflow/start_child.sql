-- A run that is retried counts its attempts anew, and the children of before are still there. The last of them goes on
-- here, where the retry has marked that.
create or replace function core_node.start_child(
    p_run uuid, p_path text, p_epoch integer, p_token uuid, p_pos integer, p_entered integer, p_key text,
    p_ord integer[], p_workflow text, p_input jsonb = '{}', p_options jsonb = '{}', p_undo jsonb = null,
    out outcome text, out child uuid)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_held  record;
    v_run   core_private.workflow_runs;
    v_now   timestamptz;
    v_o     record;
    v_def   bigint;
    v_which integer;
begin
    perform core_private.check_fence_step(p_key, p_ord);
    v_o := core_private.parse_start_options(p_options);
    if v_o.key is not null then
        perform core_private.fail_option(
            'idempotency_key', to_jsonb(v_o.key), 'A child is one for each attempt of its step: leave the key out.');
    end if;
    v_held := core_private.hold_cursor(p_run, p_path, p_epoch, p_token, p_pos, p_key);
    v_now := core_private.now();
    if v_held.outcome = 'cancelled' then
        perform core_private.leave_cancelled(p_run, p_path, (v_held.held).cancel, v_now);
    end if;
    if v_held.outcome <> 'ok' then
        outcome := case v_held.outcome when 'cancelled' then 'cancelled' else 'lost' end;
        return;
    end if;
    select * into v_run from core_private.workflow_runs r where r.run_id = p_run;
    v_def := core_private.newest_definition(v_run.namespace, p_workflow);
    if v_def is null then
        perform core_private.fail_unknown_workflow(v_run.namespace, p_workflow);
    end if;
    if v_run.depth >= 100 then
        perform core_private.fail_workflow(
            format('run %s is a child of a child, 100 times', p_run),
            'A workflow that begins itself never ends.', 'p_run');
    end if;
    perform core_private.check_payload(p_input, core_private.max_stored(p_run), 'p_input');
    if exists (
        select
          from core_private.workflow_journal j
         where j.run_id = p_run and j.key = p_key and j.status = 'p' and j.result = '{"resume": true}') then
        child := core_private.resume_child(p_run, p_key, v_now);
    end if;
    if child is null then
        v_which := (select max(r.parent_attempt) + 1
                      from core_private.workflow_runs r
                     where r.parent_run_id = p_run and r.parent_key = p_key and r.continued_from is null);
        child := core_private.new_run(
            v_run.namespace, p_workflow, v_def, p_input, v_now + coalesce(v_o.delay, '0'), v_o.timeout,
            coalesce(v_o.correlation_id, v_run.correlation_id), v_o.tags, null, v_now,
            p_run, p_key, greatest(v_which, (v_held.held).attempt), v_run.depth + 1, p_causation_uid => p_run,
            p_traceparent => v_run.traceparent);
    end if;
    perform core_private.journal_step(
        p_run, p_key, p_ord, 'p', jsonb_build_object('child', child), null, (v_held.held).attempt, p_undo, v_now);
    update core_private.workflow_cursors c
       set state = 'W', token = null, due_at = null, entered = coalesce(p_entered, c.entered), deaths = 0,
           waiting_for = 'child:' || child, wait_key = p_key, wait_ord = p_ord
     where c.run_id = p_run and c.path = p_path;
    outcome := 'waits';
end $$;
comment on function core_node.start_child(uuid, text, integer, uuid, integer, integer, text, integer[], text, jsonb, jsonb, jsonb) is 'For nodes: starts a run as a step of one that they hold, whose cursor then waits for its end. If it completes its result is the step''s; if not the cursor is due, with pending of that key saying how it ended in child_failed, and core_node.fail_step says what this means. After a retry of the run the last child of the step goes on, where it failed, and none is started. Options as core.start_workflow, without idempotency_key; p_undo is how the step is undone once the child has completed. Outcomes: waits; cancelled; lost. Raises 55000 unless the transaction is read committed, NX003, NX004, NX005, NX006, NX019, NX116, NX601.';
