create or replace function core_private.check_cron_source(p_namespace text, p_source jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known constant text[] := array[
        'cron_expression', 'timezone', 'payload', 'misfire', 'misfire_after', 'backfill', 'overlap', 'jitter',
        'starts_at', 'ends_at'];
begin
    if p_source ? 'task' then
        perform core_private.check_option_keys(p_source, '{task}', 'p_source');
        if jsonb_typeof(p_source -> 'task') <> 'string' then
            perform core_private.fail_trigger('task',
                format('task cannot be %s', left((p_source -> 'task')::text, 200)),
                'Give the name of a task, or a cron_expression for one that is made.');
        end if;
        perform core_private.task_named(p_namespace, p_source ->> 'task');
        return p_source;
    end if;
    perform core_private.check_option_keys(p_source, v_known, 'p_source');
    if jsonb_typeof(p_source -> 'cron_expression') is distinct from 'string' then
        perform core_private.fail_trigger('cron_expression',
            format('cron_expression cannot be %s', coalesce(left((p_source -> 'cron_expression')::text, 200), 'NULL')),
            'Give one, such as "0 8 * * mon-fri", or the name of a task.');
    end if;
    return p_source;
end $$;
comment on function core_private.check_cron_source(text, jsonb) is 'The source of a trigger of kind cron: task, or what core.schedule_task takes. Raises NX004, NX005, NX014, NX101, NX108, NX401, NX402.';
