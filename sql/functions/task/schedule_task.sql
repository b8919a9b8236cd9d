-- Settings that are left out take their defaults, so that a declaration says all there is; only active stays as
-- somebody set it.
create or replace function core.schedule_task(
    p_namespace text, p_name text, p_cron_expression text, p_event_type text,
    p_payload jsonb = '{}', p_options jsonb = '{}')
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_task core.scheduled_tasks;
    v_old  core.scheduled_tasks;
    v_key  text;
    v_said text;
    v_replace boolean;
begin
    perform core_private.require_scheduling(p_namespace);
    perform core_private.check_option_keys(p_options, array[
        'timezone', 'misfire', 'misfire_after', 'backfill', 'overlap', 'jitter', 'starts_at', 'ends_at',
        'owner', 'active', 'replace']);
    foreach v_key in array array['timezone', 'misfire', 'overlap', 'owner'] loop
        if p_options ? v_key and jsonb_typeof(p_options -> v_key) <> 'string' then
            perform core_private.fail_option(v_key, p_options -> v_key, 'Give a string, or leave it out.');
        end if;
    end loop;
    foreach v_key in array array['active', 'replace'] loop
        if p_options ? v_key and jsonb_typeof(p_options -> v_key) <> 'boolean' then
            perform core_private.fail_option(v_key, p_options -> v_key, 'Give true or false, or leave it out.');
        end if;
    end loop;
    if p_options ? 'backfill'
       and not coalesce(
               jsonb_path_exists(
                   p_options,
                   'strict $.backfill ? (@.type() == "number" && @ >= 0 && @ <= 100 && @.floor() == @)'),
               false) then
        perform core_private.fail_option('backfill', p_options -> 'backfill', 'Give a whole number, 0 to 100.');
    end if;

    v_replace := coalesce((p_options ->> 'replace')::boolean, true);
    v_task.namespace := p_namespace;
    v_task.name := p_name;
    v_task.spec := core_private.compile_cron(p_cron_expression, 'p_cron_expression');
    v_task.cron_expression := v_task.spec ->> 'expression';
    v_task.event_type := p_event_type;
    perform core_private.check_payload(
        p_payload,
        (select n.max_payload_bytes from core.namespaces n where n.namespace = p_namespace));
    v_task.payload := p_payload;
    v_task.timezone := core_private.check_timezone(coalesce(p_options ->> 'timezone', 'UTC'));
    v_task.misfire := coalesce(p_options ->> 'misfire', 'fire_once');
    v_task.misfire_after := case
        when p_options ? 'misfire_after'
        then core_private.parse_interval(p_options -> 'misfire_after', 'misfire_after', '0', '1 year')
        else '2 minutes' end;
    v_task.backfill := coalesce(
        (p_options ->> 'backfill')::integer,
        case when v_task.misfire = 'backfill' then 100 else 0 end);
    v_task.overlap := coalesce(
        p_options ->> 'overlap',
        case when v_task.spec ->> 'kind' = 'every' then 'skip' else 'allow' end);
    v_task.jitter := case
        when p_options ? 'jitter'
        then core_private.parse_interval(p_options -> 'jitter', 'jitter', '0', '1 day')
        else '0' end;
    v_task.starts_at := case
        when p_options ? 'starts_at'
        then core_private.parse_time(p_options -> 'starts_at', 'starts_at') end;
    v_task.ends_at := case
        when p_options ? 'ends_at'
        then core_private.parse_time(p_options -> 'ends_at', 'ends_at') end;
    v_task.owner := p_options ->> 'owner';
    v_task.active := (p_options ->> 'active')::boolean;

    insert into core.scheduled_tasks as t (
        namespace, name, cron_expression, event_type, payload, timezone, active,
        misfire, misfire_after, backfill, overlap, jitter,
        starts_at, ends_at, owner)
    values (
        v_task.namespace, v_task.name, v_task.cron_expression, v_task.event_type, v_task.payload, v_task.timezone,
        coalesce(v_task.active, true),
        v_task.misfire, v_task.misfire_after, v_task.backfill, v_task.overlap, v_task.jitter,
        v_task.starts_at, v_task.ends_at, v_task.owner)
    on conflict (namespace, name) do nothing
    returning t.task_id into v_task.task_id;
    if found then
        v_task.active := coalesce(v_task.active, true);
        perform core_private.audit_task('schedule_task', null, v_task);
        return v_task.task_id;
    end if;

    select * into v_old from core.scheduled_tasks t where t.namespace = p_namespace and t.name = p_name for update;
    if not found then
        raise exception using errcode = '40001',
            message = format('task %s vanished meanwhile', quote_literal(p_name)),
            hint = 'Run the transaction again.';
    end if;
    if v_old.owner is distinct from v_task.owner and (v_replace or p_options ? 'owner') then
        raise exception using errcode = 'NX208', column = 'owner',
            message = format('task %s of namespace %s belongs to %s',
                             quote_literal(p_name), quote_literal(p_namespace),
                             coalesce('owner ' || quote_literal(v_old.owner), 'nobody''s declaration')),
            hint = 'Choose another name, give the option owner, or delete the task first.';
    end if;
    if not v_replace then
        -- Nothing is to be changed, so what is left out is no opinion, in place of its default. That cannot be told of
        -- the payload.
        select string_agg(
                   format('%s is %s, given %s',
                          g.key, coalesce(left(g.old, 200), 'not set'), coalesce(left(g.new, 200), 'not set')),
                   '; ' order by g.n)
          into v_said
          from (select n, k, to_jsonb(v_old) ->> k, to_jsonb(v_task) ->> k
                  from unnest(array[
                           'cron_expression', 'event_type', 'payload', 'timezone', 'active',
                           'misfire', 'misfire_after', 'backfill', 'overlap', 'jitter',
                           'starts_at', 'ends_at']) with ordinality u (k, n)
                 where k in ('cron_expression', 'event_type', 'payload') or p_options ? k) g (n, key, old, new)
         where g.old is distinct from g.new;
        if v_said is not null then
            raise exception using errcode = 'NX208', column = 'replace',
                message = format('task %s of namespace %s exists with other settings: %s',
                                 quote_literal(p_name), quote_literal(p_namespace), v_said),
                hint = 'Leave out replace to give it these; what is left out then takes its default.';
        end if;
        return v_old.task_id;
    end if;
    v_task.active := coalesce(v_task.active, v_old.active);
    if (v_old.cron_expression, v_old.event_type, v_old.payload, v_old.timezone, v_old.active,
        v_old.misfire, v_old.misfire_after, v_old.backfill, v_old.overlap, v_old.jitter,
        v_old.starts_at, v_old.ends_at)
       is not distinct from
       (v_task.cron_expression, v_task.event_type, v_task.payload, v_task.timezone, v_task.active,
        v_task.misfire, v_task.misfire_after, v_task.backfill, v_task.overlap, v_task.jitter,
        v_task.starts_at, v_task.ends_at) then
        return v_old.task_id;
    end if;
    update core.scheduled_tasks t
       set cron_expression = v_task.cron_expression, event_type = v_task.event_type, payload = v_task.payload,
           timezone = v_task.timezone, active = v_task.active,
           misfire = v_task.misfire, misfire_after = v_task.misfire_after, backfill = v_task.backfill,
           overlap = v_task.overlap, jitter = v_task.jitter,
           starts_at = v_task.starts_at, ends_at = v_task.ends_at
     where t.task_id = v_old.task_id;
    v_task.task_id := v_old.task_id;
    perform core_private.audit_task('schedule_task', v_old, v_task);
    return v_old.task_id;
end $$;
comment on function core.schedule_task(text, text, text, text, jsonb, jsonb) is 'Declares a recurring task: creates it, or gives the one of that name these settings; returns its id. Options: timezone, misfire, misfire_after, backfill, overlap, jitter, starts_at, ends_at, owner, active, replace (default true). What is left out takes its default; active stays. With replace false nothing is changed: a task that is there must have the settings that are given. Raises NX002, NX003, NX004, NX005, NX011, NX012, NX013, NX101, NX208, NX401, NX402, NX601.';
