-- Outside the slots: it moves nothing, and asks no overlap policy, since somebody wants it now. Later slots see its
-- event as under way.
create or replace function core.run_task_now(p_task_id uuid, out event_id bigint, out event_uid uuid)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now  timestamptz := core_private.now();
    v_task core.scheduled_tasks := core_private.lock_active_task(p_task_id);
    v_id   bigint;
    v_uid  uuid := gen_random_uuid();
begin
    perform pg_current_xact_id();
    v_id := nextval('core.event_id_seq');
    perform core_private.emit_slots(
        v_task.namespace, array[p_task_id], array[null::timestamptz], array[v_id], array[v_uid], v_now);
    insert into core.task_runs (task_id, namespace, ran_at, ran_by, event_id, event_uid)
    values (p_task_id, v_task.namespace, v_now, core_private.principal(), v_id, v_uid);
    update core.scheduled_tasks t set last_run_at = v_now, updated_at = v_now where t.task_id = p_task_id;
    perform core_private.audit('run_task_now', v_task.namespace, v_task.name, null,
        jsonb_build_object('event_uid', v_uid));
    event_id := v_id;
    event_uid := v_uid;
end $$;
comment on function core.run_task_now(uuid) is 'Emits the event of an active task now, without a slot; core.task_runs has it. The schedule is not touched. Raises NX013 for a paused task, NX108, NX401, NX402.';

create or replace function core.run_task_now(p_namespace text, p_name text, out event_id bigint, out event_uid uuid)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    select r.event_id, r.event_uid
      into event_id, event_uid
      from core.run_task_now(core_private.task_named(p_namespace, p_name)) r;
end $$;
comment on function core.run_task_now(text, text) is 'core.run_task_now of the task of that name. Raises NX013, NX101, NX108, NX401, NX402.';
