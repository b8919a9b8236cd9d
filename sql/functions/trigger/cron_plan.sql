-- As core_private.delivery_plan: what is delivered to the triggers that name tasks is a part of the statement that
-- emits their slots, with links, so that an event is under way until its handler is done.
create or replace function core_private.cron_plan(p_task_ids uuid[], out ctes text, out links text, out queues text[])
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
    v_n     integer := 0;
begin
    ctes := '';
    links := '';
    queues := array(
        select distinct c.queue_name
          from core.cron_trigger_details d
          join core.triggers t on t.trigger_id = d.trigger_id
          join core.consumers c on c.namespace = t.namespace and c.name = t.consumer
         where d.task_id = any (p_task_ids) and t.enabled
         order by c.queue_name);
    if queues = '{}' then
        return;
    end if;
    ctes := format($q$,
        timed as materialized (
            select c.queue_name, e.task_id, e.slot, e.event_id, e.overlap,
                   nextval(to_regclass(core_private.queue_sequence(c.queue_name))) as msg_id,
                   e.message || jsonb_build_object(
                       'sourceType', e.event_type, 'eventType', t.target, 'triggerId', t.trigger_id,
                       'trigger', t.name) as message,
                   jsonb_build_object('nexus-retry', core_private.trigger_policy(t.trigger_id)) as headers
              from (select * from src order by event_id) e
              join core.cron_trigger_details d on d.task_id = e.task_id
              join core.triggers t on t.trigger_id = d.trigger_id
              join core.consumers c on c.namespace = t.namespace and c.name = t.consumer
             where t.enabled and c.queue_name = any (%L))$q$, queues);
    links := ' union all select x.queue_name, x.msg_id, x.task_id, x.slot, x.event_id from timed x
               where x.overlap <> ''allow''';
    foreach v_queue in array queues loop
        v_n := v_n + 1;
        if to_regclass(core_private.queue_relation(v_queue)) is null then
            perform core_private.fail_lost_queue(v_queue);
        end if;
        ctes := ctes || format($q$,
        timed%s as (
            insert into %s (msg_id, read_ct, enqueued_at, vt, message, headers) overriding system value
            select x.msg_id, 0, $1, $1, x.message, x.headers from timed x where x.queue_name = %L)$q$,
            v_n, core_private.queue_relation(v_queue), v_queue);
    end loop;
end $$;
comment on function core_private.cron_plan(uuid[]) is 'The part of the statement of core_private.emit_slots that delivers to the triggers that name these tasks: CTEs, rows for its links, and the queues to wake. Raises NX110.';
