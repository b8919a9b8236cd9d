create or replace function core_private.lock_active_task(p_task_id uuid)
returns core.scheduled_tasks
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_task core.scheduled_tasks := core_private.lock_task(p_task_id);
begin
    if not v_task.active then
        raise exception using errcode = 'NX013', column = 'p_task_id',
            message = format('task %s is paused', quote_literal(v_task.name)),
            hint = format('select core.resume_task(%L);', p_task_id);
    end if;
    return v_task;
end $$;
comment on function core_private.lock_active_task(uuid) is 'As core_private.lock_task; raises NX013 if the task is paused.';
