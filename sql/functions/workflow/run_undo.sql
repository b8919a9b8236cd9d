-- The call and what comes of it are one transaction, the call a subtransaction that its error undoes. Which function
-- runs says the definition: a journal is written by whoever runs nodes.
create or replace function core_node.run_undo(p_run uuid, p_epoch integer, p_token uuid)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now      timestamptz;
    v_cursor   core_private.workflow_cursors;
    v_run      core_private.workflow_runs;
    v_function core_private.workflow_undo_functions;
    v_step     core_private.workflow_journal;
    v_trouble  record;
    v_verdict  jsonb;
    v_state    text;
    v_said     text;
    v_detail   text;
    v_hint     text;
    v_context  text;
begin
    perform core_private.require_sql_login('core_node.run_undo');
    perform core_private.refuse_used_transaction();
    select *
      into v_cursor
      from core_private.workflow_cursors c
     where c.run_id = p_run and c.path = '' and c.epoch = p_epoch and c.token = p_token and c.state = 'S'
       for update;
    if not found then
        return 'lost';
    end if;
    select * into v_run from core_private.workflow_runs r where r.run_id = p_run;
    select * into v_step from core_private.workflow_journal j where j.run_id = p_run and j.key = v_cursor.wait_key;
    v_function := core_private.undo_function(v_cursor.def_id, v_cursor.wait_key);
    select *
      into v_trouble
      from core_private.handler_trouble(v_function.function, v_function.owner, v_run.namespace);
    if v_trouble.what is not null or v_function.function is null then
        v_verdict := jsonb_build_object(
            'action', 'retry', 'reason', 'error',
            'error', coalesce(v_trouble.what || '. ' || v_trouble.mend, 'no function undoes it any more'));
    else
        perform core_private.act_for(v_function.owner);
        begin
            perform core_private.call_handler(
                core_private.handler_oid(v_function.function), v_function.owner,
                jsonb_build_object(
                    'namespace', v_run.namespace, 'workflow', v_run.workflow, 'runId', p_run, 'step', v_step.key,
                    'input', v_run.input, 'result', v_step.result, 'failed', v_step.status <> 'c',
                    'attempt', v_cursor.attempt + 1),
                false);
            v_verdict := '{"action": "done"}';
        exception
            when others or assert_failure or query_canceled then
                get stacked diagnostics
                    v_state = returned_sqlstate, v_said = message_text, v_detail = pg_exception_detail,
                    v_hint = pg_exception_hint, v_context = pg_exception_context;
                if v_state = '57014' and not core_private.timed_out() then
                    raise;
                end if;
                v_verdict := core_private.handler_verdict(v_state, v_said, v_detail, v_hint, v_context);
        end;
        perform core_private.act_for(null);
    end if;
    v_now := core_private.now();
    return (core_private.undo_outcome(
        p_run, v_cursor.wait_key, v_verdict ->> 'action', (v_verdict ->> 'after')::interval,
        core_private.workflow_retry() || coalesce(v_step.undo -> 'policy', '{}'),
        v_verdict ->> 'reason', v_verdict ->> 'error', false, v_now)).outcome;
end $$;
comment on function core_node.run_undo(uuid, integer, uuid) is 'For nexus_sql: calls the function that undoes a step, in a run that core_node.claim_undo leased, and says what came of it: ended, released (there is more), retried, stuck, or lost. Raises 25001, 55000, NX215, NX401, 57014.';
