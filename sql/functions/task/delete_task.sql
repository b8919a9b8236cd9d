create or replace function core.delete_task(p_task_id uuid)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_task core.scheduled_tasks := core_private.lock_task(p_task_id);
begin
    delete from core.scheduled_tasks t where t.task_id = p_task_id;
    perform core_private.audit_task('delete_task', v_task, null);
end $$;
comment on function core.delete_task(uuid) is 'Deletes a task and its job. What became of its slots stays in core.task_slots until retention. Raises NX108, NX401, NX402.';

create or replace function core.delete_task(p_namespace text, p_name text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core.delete_task(core_private.task_named(p_namespace, p_name));
end $$;
comment on function core.delete_task(text, text) is 'core.delete_task of the task of that name. Raises NX101, NX108, NX401, NX402.';
