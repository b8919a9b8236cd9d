create or replace function core_private.drop_made_task()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    delete from core.scheduled_tasks t where t.task_id = old.task_id;
    return null;
end $$;
comment on function core_private.drop_made_task() is 'A task that was made for a trigger goes with it.';

create or replace trigger drop_made_task
    after delete on core.cron_trigger_details
    for each row when (not old.source ? 'task' and old.task_id is not null)
    execute function core_private.drop_made_task();
