-- As pg_cron it fires what is due and not fired yet, if nobody else is at it.
create or replace function core.run_scheduled_task(p_task_id uuid)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now       timestamptz := core_private.now();
    v_namespace text;
begin
    if not exists (select from core.scheduled_tasks t where t.task_id = p_task_id and t.active)
       or session_user <> 'nexus_scheduler'
          and core_private.is_hidden(
                  (select t.namespace from core.scheduled_tasks t where t.task_id = p_task_id)) then
        raise notice 'task % is unknown or inactive', coalesce(p_task_id::text, 'NULL');
    elsif session_user = 'nexus_scheduler' then
        select t.namespace
          into v_namespace
          from core.scheduled_tasks t
         where t.task_id = p_task_id and t.next_run_at <= v_now
           for update skip locked;
        if found then
            perform core_private.fire_isolated('tasks', v_namespace, array[p_task_id], v_now);
        end if;
    else
        perform core.run_task_now(p_task_id);
    end if;
end $$;
comment on function core.run_scheduled_task(uuid) is 'What a task''s job in pg_cron calls: fires the slot that is due, if there is one. Called by anybody else it is core.run_task_now. An unknown or paused task does nothing, with a NOTICE. Raises NX401, NX402.';
