-- core.emit_batch's counterpart for events whose ids the ledger has: log, queues, and links for overlap
-- policies in one statement. Types and payloads were checked when the task was written, and are read from it,
-- so that large ones pass through no array.
create or replace function core_private.emit_slots(
    p_namespace text, p_task_ids uuid[], p_slots timestamptz[], p_event_ids bigint[], p_event_uids uuid[],
    p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_types text[] := array(
        select distinct t.event_type from core.scheduled_tasks t where t.task_id = any (p_task_ids));
    v_plan  record;
    v_fire  record;
    v_queue text;
begin
    select * into v_plan from core_private.delivery_plan(p_namespace, v_types, true, false);
    select * into v_fire from core_private.fire_plan(p_namespace, v_types);
    foreach v_queue in array v_plan.queues || v_fire.queues loop
        perform core_private.wake(v_queue, p_now);
    end loop;
    execute format($q$
        with slots as (
            select u.event_id, u.event_uid, u.slot, t.task_id, t.event_type, t.overlap, t.registered_by, t.payload,
                   null::jsonb as headers, null::timestamptz as due_at, null::bigint as held_id, 0 as depth
              from unnest($3, $4, $5, $6) u(task_id, slot, event_id, event_uid)
              join core.scheduled_tasks t using (task_id)),
        src as materialized (
            select e.*, core_private.envelope($2, e.event_type, e.payload, $1, e.event_id, e.event_uid,
                                              null, null, null, null, false, null, null, 0)
                   || case when e.slot is null then jsonb_build_object('scheduledTaskId', e.task_id)
                           else jsonb_build_object('scheduledTaskId', e.task_id, 'slot', core_private.iso(e.slot))
                      end as message%1$s
              from slots e
             order by e.event_id)
        %2$s,
        links as (
            insert into core_private.task_deliveries (queue_name, msg_id, task_id, slot, event_id)
            select d.queue_name, d.msg_id, e.task_id, e.slot, e.event_id
              from src e
             cross join lateral (values %4$s) d(queue_name, msg_id)
             where d.msg_id is not null and e.overlap <> 'allow')
        insert into core.event_log (
            event_id, namespace, event_type, payload, emitted_at, scheduled_task_id, metadata, event_uid, slot,
            principal, consumer_generation, trigger_generation)
        select e.event_id, $2, e.event_type, e.payload, $1, e.task_id,
               case when %3$s is null then '{}'::jsonb else jsonb_build_object('messageId', %3$s) end,
               e.event_uid, e.slot, e.registered_by, $7, nullif(%5$s, 0)
          from src e
         order by e.event_id
        $q$, v_plan.columns, v_plan.ctes || v_fire.ctes, v_plan.default_id, v_plan.ids,
        v_fire.generation)
    using p_now, p_namespace, p_task_ids, p_slots, p_event_ids, p_event_uids, v_plan.generation;
end $$;
comment on function core_private.emit_slots(text, uuid[], timestamptz[], bigint[], uuid[], timestamptz) is 'Emits events of tasks of one namespace, whose ids are given. A slot of NULL is a run that somebody asked for. Raises NX110.';
