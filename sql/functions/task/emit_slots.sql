-- core.emit_batch's counterpart for events whose ids the ledger has: log, queues, and links for overlap
-- policies in one statement. Types and payloads were checked when the task was written, and are read from it,
-- so that large ones pass through no array. Tasks whose events are for triggers alone have a statement of their own.
create or replace function core_private.emit_slots(
    p_namespace text, p_task_ids uuid[], p_slots timestamptz[], p_event_ids bigint[], p_event_uids uuid[],
    p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_part  record;
    v_plan  record;
    v_fire  record;
    v_cron  record;
    v_queue text;
    v_ids   bigint[];
begin
    for v_part in
        select t.to_triggers, array_agg(distinct t.event_type) as types, array_agg(t.task_id) as tasks
          from core.scheduled_tasks t
         where t.task_id = any (p_task_ids)
         group by t.to_triggers
    loop
        if v_part.to_triggers then
            select '' as columns, '' as ctes, 'null::bigint' as default_id, '(null::text, null::bigint)' as ids,
                   '{}'::text[] as queues, null::bigint as generation
              into v_plan;
            select '' as ctes, '{}'::text[] as queues, 'null' as generation, '' as links into v_fire;
        else
            select * into v_plan from core_private.delivery_plan(p_namespace, v_part.types, true, false);
            select * into v_fire from core_private.fire_plan(p_namespace, v_part.types, true);
        end if;
        select * into v_cron from core_private.cron_plan(v_part.tasks);
        foreach v_queue in array v_plan.queues || v_fire.queues || v_cron.queues loop
            perform core_private.wake(v_queue, p_now);
        end loop;
        execute format($q$
            with slots as (
                select u.event_id, u.event_uid, u.slot, t.task_id, t.event_type, t.overlap, t.registered_by, t.payload,
                       null::jsonb as headers, null::timestamptz as due_at, null::bigint as held_id, 0 as depth
                  from unnest($3, $4, $5, $6) u(task_id, slot, event_id, event_uid)
                  join core.scheduled_tasks t using (task_id)
                 where t.to_triggers = $8),
            src as materialized (
                select e.*, core_private.envelope($2, e.event_type, e.payload, $1, e.event_id, e.event_uid,
                                                  null, null, null, null, false, null, null, 0)
                       || case when e.slot is null then jsonb_build_object('scheduledTaskId', e.task_id)
                               else jsonb_build_object('scheduledTaskId', e.task_id,
                                                       'slot', core_private.iso(e.slot))
                          end as message%1$s
                  from slots e
                 order by e.event_id)
            %2$s,
            links as (
                insert into core_private.task_deliveries (queue_name, msg_id, task_id, slot, event_id)
                select d.queue_name, d.msg_id, e.task_id, e.slot, e.event_id
                  from src e
                 cross join lateral (values %4$s) d(queue_name, msg_id)
                 where d.msg_id is not null and e.overlap <> 'allow'%6$s)
            insert into core.event_log (
                event_id, namespace, event_type, payload, emitted_at, scheduled_task_id, metadata, event_uid, slot,
                principal, consumer_generation, trigger_generation)
            select e.event_id, $2, e.event_type, e.payload, $1, e.task_id,
                   case when $8 then '{"toTriggers": true}'::jsonb
                        when %3$s is null then '{}' else jsonb_build_object('messageId', %3$s) end,
                   e.event_uid, e.slot, e.registered_by, $7, nullif(%5$s, 0)
              from src e
             order by e.event_id
            $q$, v_plan.columns, v_plan.ctes || v_fire.ctes || v_cron.ctes, v_plan.default_id, v_plan.ids,
            v_fire.generation, v_fire.links || v_cron.links)
        using p_now, p_namespace, p_task_ids, p_slots, p_event_ids, p_event_uids, v_plan.generation,
              v_part.to_triggers;
    end loop;
    -- What is for triggers alone is no event that others match.
    if '!' = any ((select n.trigger_patterns from core.namespaces n where n.namespace = p_namespace)::text[]) then
        v_ids := array(
            select u.id
              from unnest(p_task_ids, p_event_ids) u(task_id, id)
              join core.scheduled_tasks t using (task_id)
             where not t.to_triggers
             order by u.id);
        perform core_private.run_sync_triggers(p_namespace, v_ids, p_now);
    end if;
end $$;
comment on function core_private.emit_slots(text, uuid[], timestamptz[], bigint[], uuid[], timestamptz) is 'Emits events of tasks of one namespace, whose ids are given. A slot of NULL is a run that somebody asked for. Raises 42501, NX015, NX110, NX215, and what triggers that are sync raise.';
