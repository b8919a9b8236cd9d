-- core.emit_batch's counterpart for events whose ids the ledger has: log, queues, and links for overlap policies in one statement. Types
-- and payloads were checked when the task was written, and are read from it, so that large ones pass through no array.
create or replace function core_private.emit_slots(
    p_namespace text, p_task_ids uuid[], p_slots timestamptz[], p_event_ids bigint[], p_event_uids uuid[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_consumer record;
    v_default  boolean := (select n.default_consumer from core.namespaces n where n.namespace = p_namespace);
    v_columns  text := '';
    v_queues   text := '';
    v_message  text := 'null::bigint';
    v_matches  text;
    v_lost     text;
begin
    for v_consumer in
        select c.consumer_id, c.name, c.queue_name, c.patterns from core.consumers c where c.namespace = p_namespace and c.kind = 'unordered' order by c.consumer_id
    loop
        continue when v_consumer.name = 'default' and not v_default;
        if to_regclass(core_private.queue_relation(v_consumer.queue_name)) is null then
            select core_private.lost_queue_for(p_namespace, t.event_type) into v_lost from core.scheduled_tasks t
             where t.task_id = any (p_task_ids) and core_private.lost_queue_for(p_namespace, t.event_type) is not null limit 1;
            if found then
                perform core_private.fail_lost_queue(v_lost);
            end if;
            continue; -- none of these would go there
        end if;
        v_matches := case when '*' = any (v_consumer.patterns) then 'true'
                          else format('exists (select from unnest(%L::text[]) p where core_private.matches(p, t.event_type))', v_consumer.patterns) end;
        v_columns := v_columns || format(', case when %s then nextval(%L::regclass) end as m%s', v_matches, core_private.queue_sequence(v_consumer.queue_name), v_consumer.consumer_id);
        v_queues := v_queues || format($q$,
            q%1$s as (insert into %2$s (msg_id, vt, message) overriding system value select s.m%1$s, $6, e.message from src s join env e using (event_id) where s.m%1$s is not null order by s.m%1$s),
            l%1$s as (insert into core_private.task_deliveries (queue_name, msg_id, task_id, slot, event_id)
                      select %3$L, s.m%1$s, s.task_id, s.slot, s.event_id from src s where s.m%1$s is not null and s.overlap <> 'allow')
            $q$, v_consumer.consumer_id, core_private.queue_relation(v_consumer.queue_name), v_consumer.queue_name);
        if v_consumer.name = 'default' then
            v_message := 's.m' || v_consumer.consumer_id;
        end if;
        perform core_private.wake(v_consumer.queue_name, p_now);
    end loop;
    execute format($q$
        with src as materialized (
            select u.event_id, u.event_uid, u.slot, t.task_id, t.event_type, t.overlap, t.registered_by%1$s
              from unnest($2, $3, $4, $5) u(task_id, slot, event_id, event_uid) join core.scheduled_tasks t using (task_id)
             order by u.event_id),
        env as materialized (
            select s.event_id, t.payload, core_private.envelope($1, s.event_type, t.payload, $6, s.event_id, s.event_uid, null, null, null, null, false, null, null, 0)
                   || case when s.slot is null then jsonb_build_object('scheduledTaskId', s.task_id)
                           else jsonb_build_object('scheduledTaskId', s.task_id, 'slot', core_private.iso(s.slot)) end as message
              from src s join core.scheduled_tasks t using (task_id))
        %3$s
        insert into core.event_log (event_id, namespace, event_type, payload, emitted_at, scheduled_task_id, metadata, event_uid, slot, principal)
        select s.event_id, $1, s.event_type, e.payload, $6, s.task_id,
               case when %2$s is null then '{}'::jsonb else jsonb_build_object('messageId', %2$s) end, s.event_uid, s.slot, s.registered_by
          from src s join env e using (event_id) order by s.event_id
        $q$, v_columns, v_message, v_queues)
    using p_namespace, p_task_ids, p_slots, p_event_ids, p_event_uids, p_now;
end $$;
comment on function core_private.emit_slots(text, uuid[], timestamptz[], bigint[], uuid[], timestamptz) is 'Emits events of tasks of one namespace, whose ids are given. A slot of NULL is a run that somebody asked for. Raises NX110.';
