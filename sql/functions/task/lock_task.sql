-- A caller who may not change the task locks nothing. A caller without a duty in a restricted namespace gets the
-- answer of an unknown id, and so does not learn that the task exists.
create or replace function core_private.lock_task(p_task_id uuid)
returns core.scheduled_tasks
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_task      core.scheduled_tasks;
    v_namespace text := (select t.namespace from core.scheduled_tasks t where t.task_id = p_task_id);
begin
    if v_namespace is not null and not core_private.is_hidden(v_namespace) then
        perform core_private.require_scheduling(v_namespace);
        select * into v_task from core.scheduled_tasks t where t.task_id = p_task_id for update;
    end if;
    if v_task.task_id is null then
        raise exception using errcode = 'NX108', column = 'p_task_id',
            message = format('there is no task %s', coalesce(p_task_id::text, 'NULL')),
            hint = 'Tasks are listed in core.task_status.';
    end if;
    if v_task.namespace <> v_namespace then
        perform core_private.require_scheduling(v_task.namespace);
    end if;
    return v_task;
end $$;
comment on function core_private.lock_task(uuid) is 'Locks a task for a caller who may change it; raises NX108, NX401, NX402.';
