-- A task that is made has the name of the trigger behind trigger/, and is kept in step with it.
create or replace function core_private.put_cron_source(p_trigger_id uuid, p_namespace text, p_source jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name text := 'trigger/' || (select t.name from core.triggers t where t.trigger_id = p_trigger_id);
    v_old  core.cron_trigger_details;
    v_id   uuid;
begin
    select * into v_old from core.cron_trigger_details d where d.trigger_id = p_trigger_id;
    if p_source ? 'task' then
        v_id := core_private.task_named(p_namespace, p_source ->> 'task');
    else
        if coalesce(v_old.source ? 'task', true) and exists (
            select from core.scheduled_tasks t where t.namespace = p_namespace and t.name = v_name) then
            raise exception using errcode = 'NX208', column = 'p_name',
                message = format('there is a task %s in namespace %s', quote_literal(v_name),
                                 quote_literal(p_namespace)),
                hint = 'Name it in the source, or give the trigger another name.';
        end if;
        v_id := core.schedule_task(
            p_namespace, v_name, p_source ->> 'cron_expression', 'nexus.cron',
            coalesce(p_source -> 'payload', '{}'), p_source - '{cron_expression,payload}'::text[]);
        update core.scheduled_tasks t set to_triggers = true where t.task_id = v_id and not t.to_triggers;
    end if;
    insert into core.cron_trigger_details (trigger_id, namespace, task_id, source)
    values (p_trigger_id, p_namespace, v_id, p_source)
    on conflict (trigger_id) do update set task_id = excluded.task_id, source = excluded.source;
    if not v_old.source ? 'task' and v_old.task_id <> v_id then
        delete from core.scheduled_tasks t where t.task_id = v_old.task_id;
    end if;
end $$;
comment on function core_private.put_cron_source(uuid, text, jsonb) is 'Keeps the details of a trigger of kind cron, and makes its task. Raises NX002, NX003, NX005, NX006, NX011, NX012, NX101, NX108, NX208, NX401, NX402, NX601.';
