create or replace function core_private.new_run(
    p_namespace text, p_workflow text, p_def_id bigint, p_input jsonb, p_due_at timestamptz, p_timeout interval,
    p_correlation_id text, p_tags text[], p_key text, p_now timestamptz,
    p_parent uuid = null, p_parent_key text = null, p_parent_attempt integer = null, p_depth integer = 0,
    p_continued_from uuid = null, p_answers uuid = null, p_forked_from uuid = null, p_entered integer = 0,
    p_causation_uid uuid = null, p_traceparent text = null, p_task uuid = null,
    p_first uuid = null)
returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id uuid := core_private.uuid_v7(p_now);
begin
    insert into core_private.workflow_runs (
        run_id, namespace, workflow, def_id, input, parent_run_id, parent_key, parent_attempt, answers,
        continued_from, forked_from, principal, depth, correlation_id, idempotency_key, tags, created_at, timeout_at,
        updated_at, causation_uid, traceparent, scheduled_task_id, first_run_id)
    values (
        v_id, p_namespace, p_workflow, p_def_id, p_input, p_parent, p_parent_key, p_parent_attempt,
        case when p_parent is not null then coalesce(p_answers, v_id) end,
        p_continued_from, p_forked_from, core_private.principal(), p_depth, p_correlation_id, p_key, p_tags, p_now,
        p_due_at + p_timeout, p_now, p_causation_uid, p_traceparent, p_task,
        p_first)
    on conflict (namespace, workflow, idempotency_key) where idempotency_key is not null do nothing;
    if not found then
        return null;
    end if;
    insert into core_private.workflow_cursors (run_id, path, def_id, due_at, entered)
    values (v_id, '', p_def_id, p_due_at, p_entered);
    if p_due_at <= p_now + interval '6 seconds' then
        perform core_private.wake_workflows(p_namespace, p_now);
    end if;
    return v_id;
end $$;
comment on function core_private.new_run(text, text, bigint, jsonb, timestamptz, interval, text, text[], text, timestamptz, uuid, text, integer, integer, uuid, uuid, uuid, integer, uuid, text, uuid, uuid) is 'A run and its cursor; NULL where another run has the idempotency key.';
