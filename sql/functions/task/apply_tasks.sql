-- A deployment says what its tasks are, all of them. Two of one owner's deployments go one after the other; there are
-- rows for that, since the tasks to come have none yet, in the namespaces where the caller may deploy and in no other.
-- A dry run is the real thing, undone: it is refused where that would be.
create or replace function core.apply_tasks(p_owner text, p_tasks jsonb, p_dry_run boolean = false)
returns table (task text, action text, field text, old_value text, new_value text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_changes jsonb := '[]';
    v_namespaces text[];
    v_known   constant text[] := array[
        'namespace', 'name', 'cron_expression', 'event_type', 'payload', 'timezone',
        'misfire', 'misfire_after', 'backfill', 'overlap', 'jitter', 'starts_at', 'ends_at'];
    v_shown   constant text[] := array[
        'cron_expression', 'timezone', 'event_type', 'payload',
        'misfire', 'misfire_after', 'backfill', 'overlap', 'jitter', 'starts_at', 'ends_at'];
    r         record;
    v_key     text;
    v_old     jsonb;
    v_new     jsonb;
    v_column  text;
    v_message text;
    v_hint    text;
begin
    if p_owner is null or p_owner = '' or octet_length(p_owner) > 200 then
        raise exception using errcode = 'NX006', column = 'p_owner',
            message = format('p_owner cannot be %s', coalesce(quote_literal(left(p_owner, 100)), 'NULL')),
            hint = 'Name the deployment in up to 200 bytes, the same each time: what it no longer declares is deleted.';
    end if;
    if jsonb_typeof(p_tasks) is distinct from 'array' or jsonb_array_length(p_tasks) > 10000 then
        raise exception using errcode = 'NX006', column = 'p_tasks',
            message = 'p_tasks is not an array of up to 10000 tasks',
            hint = 'Give all tasks of this owner in one array of objects; an empty one deletes them.';
    end if;
    select min(u.n) as n, u.e ->> 'namespace' as namespace, u.e ->> 'name' as name
      into r
      from jsonb_array_elements(p_tasks) with ordinality u(e, n)
     group by 2, 3
    having count(*) > 1
     limit 1;
    if found and r.name is not null then
        raise exception using errcode = 'NX006', column = format('p_tasks[%s].name', r.n),
            message = format('task %s of namespace %s is declared twice',
                             quote_literal(r.name), quote_literal(r.namespace)),
            hint = 'Take one of the two out, or rename it.';
    end if;
    v_namespaces := array(
        select n.namespace
          from core.namespaces n
         where (exists (select from jsonb_array_elements(p_tasks) e where e ->> 'namespace' = n.namespace)
                or exists (select from core.scheduled_tasks t where t.owner = p_owner and t.namespace = n.namespace))
           and (core_private.has_duty(n.namespace, 'operate', n.restricted)
                or core_private.has_duty(n.namespace, 'produce', n.restricted)));
    insert into core_private.deployments (owner, namespace)
    select p_owner, n from unnest(v_namespaces) n order by n
    on conflict do nothing;
    perform from core_private.deployments d
      where d.owner = p_owner and d.namespace = any (v_namespaces)
      order by d.namespace
        for update;
    begin
        for r in
            -- Tasks that somebody put under this owner's name where the caller may do nothing are neither theirs to
            -- delete nor in their way.
            select t.*
              from core.scheduled_tasks t
              join core.namespaces n on n.namespace = t.namespace
             where t.owner = p_owner and (core_private.has_duty(t.namespace, 'operate', n.restricted)
                                          or core_private.has_duty(t.namespace, 'produce', n.restricted))
               and not exists (
                       select from jsonb_array_elements(p_tasks) e
                        where e ->> 'namespace' = t.namespace and e ->> 'name' = t.name)
             order by t.namespace, t.name
        loop
            perform core.delete_task(r.task_id);
            v_changes := v_changes || jsonb_build_object(
                'task', r.namespace || '/' || r.name, 'action', 'delete', 'old_value', r.cron_expression);
        end loop;
        for r in
            select u.e, u.n
              from jsonb_array_elements(p_tasks) with ordinality u(e, n)
             order by u.e ->> 'namespace', u.e ->> 'name'
        loop
            begin
                perform core_private.check_option_keys(r.e, v_known, format('p_tasks[%s]', r.n));
                foreach v_key in array array['namespace', 'name', 'cron_expression', 'event_type'] loop
                    if jsonb_typeof(r.e -> v_key) is distinct from 'string' then
                        perform core_private.fail_option(
                            v_key, r.e -> v_key,
                            'Every task has namespace, name, cron_expression and event_type, which are strings.');
                    end if;
                end loop;
                select to_jsonb(t)
                  into v_old
                  from core.scheduled_tasks t
                 where t.namespace = r.e ->> 'namespace' and t.name = r.e ->> 'name';
                perform core.schedule_task(
                    r.e ->> 'namespace', r.e ->> 'name', r.e ->> 'cron_expression', r.e ->> 'event_type',
                    coalesce(r.e -> 'payload', '{}'),
                    r.e - array['namespace', 'name', 'cron_expression', 'event_type', 'payload']
                    || jsonb_build_object('owner', p_owner));
                select to_jsonb(t)
                  into v_new
                  from core.scheduled_tasks t
                 where t.namespace = r.e ->> 'namespace' and t.name = r.e ->> 'name';
            exception when others then
                -- The same error, which says whose it is.
                get stacked diagnostics v_column = column_name, v_message = message_text, v_hint = pg_exception_hint;
                if sqlstate !~ '^NX' then
                    raise;
                end if;
                if sqlstate = 'NX208' then
                    v_hint := 'Choose another name, declare it under the owner that has it, or delete the task first.';
                end if;
                raise exception using errcode = sqlstate,
                    hint = v_hint,
                    column = format('p_tasks[%s]', r.n)
                             || coalesce('.' || nullif(regexp_replace(v_column, '^p_(tasks.*)?', ''), ''), ''),
                    message = case when starts_with(v_message, 'task ')
                                   then v_message
                                   else format('task %s: %s',
                                               coalesce(quote_literal(left(r.e ->> 'name', 200)), r.n::text),
                                               v_message) end;
            end;
            if v_old is null then
                v_changes := v_changes || jsonb_build_object(
                    'task', format('%s/%s', r.e ->> 'namespace', r.e ->> 'name'),
                    'action', 'create',
                    'new_value', v_new ->> 'cron_expression');
            else
                v_changes := v_changes || coalesce((
                    select jsonb_agg(
                               jsonb_build_object(
                                   'task', format('%s/%s', r.e ->> 'namespace', r.e ->> 'name'),
                                   'action', 'change',
                                   'field', k,
                                   'old_value', v_old ->> k,
                                   'new_value', v_new ->> k)
                               order by n)
                      from unnest(v_shown) with ordinality u(k, n)
                     where v_old -> k is distinct from v_new -> k), '[]');
            end if;
        end loop;
        if p_dry_run then
            raise exception using errcode = 'NXDRY', message = 'dry run';
        end if;
    exception when sqlstate 'NXDRY' then
        null;
    end;
    return query
        select c.*
          from jsonb_to_recordset(v_changes) c(task text, action text, field text, old_value text, new_value text);
end $$;
comment on function core.apply_tasks(text, jsonb, boolean) is 'Makes an owner''s tasks those of the array: creates, changes and deletes what differs, and returns that; others'' tasks are not touched. The owner spans namespaces: two deployments need two owners. p_tasks: objects with namespace, name, cron_expression, event_type, payload, timezone, misfire, misfire_after, backfill, overlap, jitter, starts_at, ends_at. Paused tasks stay paused. p_dry_run: done, returned and undone. Raises NX002, NX003, NX004, NX005, NX006, NX011, NX012, NX013, NX101, NX208, NX401, NX402, NX601, all naming the task.';
