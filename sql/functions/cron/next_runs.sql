create or replace function core.next_runs(
    p_expression text, p_timezone text = 'UTC', p_from timestamptz = null, p_count integer = 5)
returns setof timestamptz
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_spec jsonb := core_private.compile_cron(p_expression, 'p_expression');
    v_zone text := core_private.check_timezone(p_timezone, 'p_timezone');
    v_from timestamptz := coalesce(p_from, core_private.now());
begin
    perform core_private.check_number(p_count, 'p_count', 1, 1000);
    if v_from not between '1970-01-01 00:00Z' and '9000-01-01 00:00Z' then
        raise exception using errcode = 'NX006', column = 'p_from',
            message = format('p_from cannot be %s', v_from),
            hint = 'Give a time from 1970 to 9000.';
    end if;
    perform core_private.note_cron_warnings(v_spec);
    return query select core_private.next_slots(v_spec, v_zone, v_from, null, p_count);
end $$;
comment on function core.next_runs(text, text, timestamptz, integer) is 'When a cron expression or @every interval runs next, after p_from (default: now), in a time zone; fewer than p_count rows if there are no more. Says as a notice what is allowed and seldom meant. Raises NX006, NX011, NX012.';

-- Readers may ask for the tasks they see.
create or replace function core.next_runs(p_task_id uuid, p_from timestamptz = null, p_count integer = 5)
returns setof timestamptz
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_task core.scheduled_tasks;
    v_slot timestamptz := coalesce(p_from, core_private.now());
begin
    select *
      into v_task
      from core.scheduled_tasks t
     where t.task_id = p_task_id and t.namespace = any (core.visible_namespaces());
    if not found then
        raise exception using errcode = 'NX108', column = 'p_task_id',
            message = format('there is no task %s', coalesce(p_task_id::text, 'NULL')),
            hint = 'Tasks are listed in core.task_status.';
    end if;
    perform core_private.check_number(p_count, 'p_count', 1, 1000);
    if v_slot not between '1970-01-01 00:00Z' and '9000-01-01 00:00Z' then
        raise exception using errcode = 'NX006', column = 'p_from',
            message = format('p_from cannot be %s', v_slot),
            hint = 'Give a time from 1970 to 9000.';
    end if;
    for i in 1..p_count loop
        v_slot := core_private.next_task_slot(
            v_task.spec, v_task.timezone, v_slot, v_task.created_at, v_task.starts_at, v_task.ends_at);
        exit when v_slot is null;
        return next v_slot;
    end loop;
end $$;
comment on function core.next_runs(uuid, timestamptz, integer) is 'The next slots of a task after p_from (default: now), within its bounds, also while it is paused; fewer than p_count rows if there are no more. Raises NX006, NX108.';
