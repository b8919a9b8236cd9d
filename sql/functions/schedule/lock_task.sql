create or replace function core_private.lock_task(p_task_id uuid)
returns core.scheduled_tasks
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_task core.scheduled_tasks;
begin
    select * into v_task from core.scheduled_tasks t where t.task_id = p_task_id for update;
    if not found then
        raise exception using errcode = 'NX108', column = 'p_task_id', message = format('there is no task %s', coalesce(p_task_id::text, 'NULL')),
            hint = 'Tasks are listed in core.task_status.';
    end if;
    perform core_private.require_scheduling(v_task.namespace);
    return v_task;
end $$;
comment on function core_private.lock_task(uuid) is 'Locks a task for a caller who may change it; raises NX108, NX401, NX402.';
