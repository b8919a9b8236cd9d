create or replace function core.drop_namespace(p_namespace text, p_confirm text, p_force boolean = false)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue  text;
    v_queues text[];
    v_held   boolean;
    v_left   text[];
begin
    perform core_private.require_admin(p_namespace);
    if p_confirm is distinct from p_namespace then
        raise exception using errcode = 'NX206', column = 'p_confirm',
            message = format('to drop namespace %s, p_confirm must repeat its name', quote_literal(p_namespace)),
            hint = format('select core.drop_namespace(%L, %L);', p_namespace, p_namespace);
    end if;
    if not coalesce(p_force, false) then
        perform core_private.require_read_committed('core.drop_namespace');
    end if;
    perform from core_private.locks l where l.name = 'namespaces' for update;
    perform core_private.lock_namespace(p_namespace, true);
    v_queues := array(
        select q.queue_name
          from core.queues q
         where q.namespace = p_namespace
         union
        select u.queue_name
          from core_private.unregistered_queues(p_namespace) u
         order by 1);

    -- Who fires holds rows of these and then emits.
    perform
       from core.scheduled_tasks t
      where t.namespace = p_namespace
      order by t.task_id
        for update;
    perform
       from core.scheduled_events e
      where e.namespace = p_namespace and e.status = 'pending'
      order by e.schedule_id
        for update;
    -- Who parks holds a row of these and then waits for the queue; in another order the two would wait for each other.
    perform from core_private.parking k where k.queue_name = any (v_queues) order by k.queue_name for update;
    -- Who emits with a delay holds a row of these, by the foreign key of core.delayed.
    perform from core.queues q where q.queue_name = any (v_queues) order by q.queue_name for update;
    -- Emits into it wait for these locks and then find the queue gone, so that none slips in after the look below.
    foreach v_queue in array v_queues loop
        if to_regclass(core_private.queue_relation(v_queue)) is not null then
            execute format('lock table %s in access exclusive mode', core_private.queue_relation(v_queue));
        end if;
    end loop;
    -- And whoever schedules an event, emits a broadcast or gives one up waits for this one; he has no cursor then.
    perform from core.namespaces n where n.namespace = p_namespace for update;
    if not coalesce(p_force, false) then
        -- Who writes to lanes holds nothing of the namespace, so that he is waited for, and looked at after that.
        if exists (
            select from core.consumers c where c.namespace = p_namespace and c.kind in ('outbox', 'ordered')) then
            v_left := core_private.await_enqueuers('1 s');
        end if;
        if v_left <> '{}' then
            raise exception using errcode = 'NX203', column = 'p_namespace',
                message = format(
                    'namespace %s has lanes, and writers that may have enqueued to them have not committed: %s',
                    quote_literal(p_namespace), array_to_string(v_left, ', ')),
                hint = format('Wait until they have ended, or drop it with all it holds: '
                    || 'select core.drop_namespace(%L, %L, true);', p_namespace, p_namespace);
        end if;
        if exists (
               select
                 from core.delayed d
                 join core.queues q on q.queue_name = d.queue_name and q.dropped_at is null
                where d.queue_name = any (v_queues))
           or exists (select from core.scheduled_events e where e.namespace = p_namespace and e.status = 'pending')
           or exists (select from core.parked p where p.queue_name = any (v_queues))
           or exists (select from core.dead_letters l where l.namespace = p_namespace and l.resolved_at is null)
           or exists (
               select
                 from core_private.broadcast_cursors c
                cross join core_private.unread_of(c.node_id) u
                where c.namespace = p_namespace and u.unread + u.retrying > 0)
           or exists (
               select
                 from core_private.workflow_runs w
                where w.namespace = p_namespace and w.status in ('open', 'compensating'))
           or exists (
               select
                 from core.consumers c
                where c.namespace = p_namespace and c.kind in ('outbox', 'ordered')
                  and core_private.outbox_holds(c.consumer_id)) then
            v_held := true;
        end if;
        for v_queue in
            select unnest(v_queues)
            except
            select core.dead_letter_queue_name_for_namespace(p_namespace)
            except
            select q.queue_name from core.queues q where q.dropped_at is not null
        loop
            exit when v_held;
            continue when to_regclass(core_private.queue_relation(v_queue)) is null;
            execute format('select exists (select from %s)', core_private.queue_relation(v_queue)) into v_held;
        end loop;
        if v_held then
            raise exception using errcode = 'NX203', column = 'p_namespace',
                message = format(
                    'namespace %s still holds undelivered or scheduled events, unread broadcasts, unresolved dead '
                    || 'letters or runs of workflows',
                    quote_literal(p_namespace)),
                hint = format('Look at core.queue_metrics, core.pending_scheduled_events, core.broadcast_cursors, '
                    || 'core.unresolved_dead_letters and core.workflow_runs, or drop it with all it holds: '
                    || 'select core.drop_namespace(%L, %L, true);', p_namespace, p_namespace);
        end if;
    end if;
    delete from core.event_keys k where k.namespace = any (p_namespace || array(
        select core_private.outbox_key(c.namespace, c.name)
          from core.consumers c
         where c.namespace = p_namespace and c.kind = 'outbox'));
    delete from core.inbox i where i.namespace = p_namespace;
    perform core_private.drop_runs(p_namespace);
    delete from core.broadcasts b where b.namespace = p_namespace;
    delete from core_private.wake_flags f
     where f.key = any (v_queues) or f.key = core_private.broadcast_key(p_namespace)
        or f.key = core_private.workflow_key(p_namespace);
    delete from core.namespaces n where n.namespace = p_namespace;
    delete from core_private.locks l where l.name = 'namespace ' || p_namespace;
    foreach v_queue in array v_queues loop
        perform core_private.drop_queue(v_queue);
    end loop;
    perform core_private.audit('drop_namespace', p_namespace, null, null,
        jsonb_build_object('force', coalesce(p_force, false)));
end $$;
comment on function core.drop_namespace(text, text, boolean) is 'Drops a namespace, its queues, consumers, nodes, scheduled events, dead letters and keys; its log rows stay until retention. p_confirm repeats the name. Refused while it holds undelivered or scheduled events, broadcasts that a node has not read, unresolved dead letters or runs of workflows that have not ended, and, where it has lanes, while a transaction that has enqueued to any stays open for a second, unless p_force is true. What is enqueued while it is being dropped is lost with it, so producers are to be stopped before. Raises NX101, NX203, NX206, NX401; 55000 unless the transaction is read committed or p_force is true.';
