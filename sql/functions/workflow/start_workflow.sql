-- One look at the namespace, as in core.emit, and what passes takes one expression.
create or replace function core.start_workflow(
    p_namespace text, p_workflow text, p_input jsonb = '{}', p_options jsonb = '{}',
    out run_id uuid, out started boolean)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now        timestamptz := core_private.now();
    v_caller     name        := session_user;
    v_principal  text;
    v_restricted boolean;
    v_max_bytes  integer;
    v_def        bigint;
    v_wake       boolean;
    v_o          record;
    v_input      jsonb;
begin
    if current_setting('role') <> 'none' or v_caller = 'nexus_sql' then
        v_caller := core_private.caller();
        v_principal := core_private.principal();
    end if;
    -- Whoever drops the namespace is waited for, or waits and sees the run.
    select n.restricted, n.max_payload_bytes,
           (select d.def_id
              from core_private.workflow_definitions d
             where d.namespace = p_namespace and d.name = p_workflow
             order by d.last_registered_at desc, d.def_id desc
             limit 1),
           exists (
               select
                 from core_private.wake_flags f
                where f.key = core_private.workflow_key(p_namespace) and f.waiting_until > v_now)
      into v_restricted, v_max_bytes, v_def, v_wake
      from core.namespaces n
     where n.namespace = p_namespace
       for key share of n;
    if (found and not v_restricted
        and pg_has_role(v_caller, 'nexus_producer', 'member') and not pg_has_role(v_caller, 'nexus_admin', 'member')
        and v_def is not null and octet_length(p_input::text) < 255) is not true then
        perform core_private.require_duty(p_namespace, 'produce');
        if v_def is null then
            perform core_private.fail_unknown_workflow(p_namespace, p_workflow);
        end if;
        perform core_private.check_payload(p_input, v_max_bytes, 'p_input');
    end if;
    if current_setting('nexus.cause', true) <> '' then
        p_options := core_private.with_cause(p_options);
    end if;
    if p_options = '{}' then
        run_id := core_private.uuid_v7(v_now);
        insert into core_private.workflow_runs (
            run_id, namespace, workflow, def_id, input, principal, depth, created_at, status, updated_at)
        values (
            run_id, p_namespace, p_workflow, v_def, p_input, coalesce(v_principal, v_caller), 0, v_now, 'open', v_now);
        insert into core_private.workflow_cursors (run_id, path, def_id, due_at) values (run_id, '', v_def, v_now);
        if v_wake then
            perform core_private.wake_workflows(p_namespace, v_now);
        end if;
        started := true;
        return;
    end if;
    v_o := core_private.parse_start_options(p_options);
    run_id := core_private.new_run(
        p_namespace, p_workflow, v_def, p_input, v_now + coalesce(v_o.delay, '0'), v_o.timeout, v_o.correlation_id,
        v_o.tags, v_o.key, v_now, p_depth => v_o.depth, p_causation_uid => v_o.causation_uid,
        p_traceparent => v_o.traceparent);
    started := run_id is not null;
    if started then
        return;
    end if;
    select r.run_id, r.input
      into run_id, v_input
      from core_private.workflow_runs r
     where r.namespace = p_namespace and r.workflow = p_workflow and r.idempotency_key = v_o.key;
    if v_input is distinct from p_input then
        raise exception using errcode = 'NX226', column = 'idempotency_key',
            message = format('run %s of %s has the idempotency key %s and another input',
                             run_id, p_workflow, quote_literal(left(v_o.key, 100))),
            hint = 'A key stands for one input: give this one another key.';
    end if;
end $$;
comment on function core.start_workflow(text, text, jsonb, jsonb) is 'Starts a run of a workflow, in the caller''s transaction: run_id, and whether it was started now. Options: idempotency_key (of two starts with one key the second is told the run of the first), tags (array of strings), delay (before the first step), timeout (of the run, counted after delay; then it ends as timed_out, with compensation), correlation_id, causation_uid and depth (of what it follows from: the event in whose handler in SQL it is started), traceparent (the span that its steps are linked to). Raises NX003, NX004, NX005, NX101, NX116, NX226, NX401, NX402, NX601; above read committed 40001 where another transaction has just used the key.';
