create or replace function core_private.set_task_active(p_task_id uuid, p_active boolean)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_task core.scheduled_tasks := core_private.lock_task(p_task_id);
begin
    if v_task.active = p_active then
        return false;
    end if;
    update core.scheduled_tasks t set active = p_active where t.task_id = p_task_id;
    perform core_private.audit(
        case when p_active then 'resume_task' else 'pause_task' end, v_task.namespace, v_task.name, null);
    return true;
end $$;
comment on function core_private.set_task_active(uuid, boolean) is 'Pauses or resumes a task; false if it was so already. Raises NX108, NX401, NX402.';
