-- As at first creation. What is there stays as it is.
create or replace function core_private.restore_queues(p_namespace text)
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_again text[] := '{}';
    v_made  text[] := '{}';
    r       record;
begin
    for r in
        select u.queue_name, u.consumer
          from core_private.unregistered_queues(p_namespace) u
         order by u.queue_name
    loop
        if r.consumer is not null then
            insert into core.consumers (namespace, name, patterns, queue_name, created_at)
            values (p_namespace, r.consumer, array['*'], r.queue_name, v_now)
            on conflict (namespace, name) do nothing;
        end if;
        insert into core.queues as q (queue_name, namespace, consumer_id, created_at)
        values (
            r.queue_name, p_namespace,
            (select c.consumer_id from core.consumers c where c.namespace = p_namespace and c.name = r.consumer),
            v_now)
        on conflict (queue_name) do update set consumer_id = excluded.consumer_id;
        v_again := v_again || r.queue_name::text;
    end loop;
    -- Rights and policies go by the row of core.queues, so those that are registered again are set up again.
    for r in
        select q.queue_name, m.missing
          from core.queues q
         cross join lateral core_private.missing_parts(q.queue_name) m (missing)
         where q.namespace = p_namespace and q.dropped_at is null
           and (m.missing <> '{}' or q.queue_name = any (v_again))
         order by q.queue_name
    loop
        perform core_private.create_queue(r.queue_name);
        if 'queue' = any (r.missing) then
            perform setval(core_private.queue_sequence(r.queue_name)::regclass,
                           core_private.above_known_ids(r.queue_name), false);
            perform core_private.wake(r.queue_name, v_now);
        end if;
        v_made := v_made || r.queue_name;
    end loop;
    if v_made <> '{}' then
        perform core_private.audit('create_namespace', p_namespace, null, null,
            jsonb_build_object('made_again', v_made));
        -- What was put off since a table was missing is due now.
        update core.scheduled_events e
           set due_at = v_now
          from (select x.schedule_id
                  from core.scheduled_events x
                 where x.namespace = p_namespace and x.status = 'pending'
                   and x.last_error ^@ 'NX110' and x.fire_at <= v_now and x.due_at > v_now
                   for update skip locked) o
         where e.schedule_id = o.schedule_id and e.namespace = p_namespace;
        update core.scheduled_tasks t
           set next_run_at = v_now
          from (select x.task_id
                  from core.scheduled_tasks x
                 where x.namespace = p_namespace
                   and x.failures > 0 and x.last_error ^@ 'NX110' and x.next_run_at > v_now
                   for update skip locked) o
         where t.task_id = o.task_id;
        perform core_private.wake('timers', v_now);
    end if;
    return v_made;
end $$;
comment on function core_private.restore_queues(text) is 'Makes the queues of a namespace again of which something is missing, empty, with message ids that were never used, and registers those again that are not; returns their names.';
