-- What is being handled goes on: leases, and what an express batch has locked. What comes to the queue later is set
-- aside by the claim that finds it.
create or replace function core_private.hold_deliveries(p_namespace text, p_trigger_id uuid)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_queue text;
    v_n     bigint;
    v_total bigint := 0;
begin
    for v_queue in
        select c.queue_name from core.consumers c where c.namespace = p_namespace and c.routed order by c.queue_name
    loop
        perform from core_private.parking k where k.queue_name = v_queue for update;
        update core.delayed d
           set due_at = 'infinity',
               headers = core_private.headers_object(d.headers) || core_private.held_header(d.due_at)
         where d.queue_name = v_queue and d.due_at < 'infinity' and d.message ->> 'triggerId' = p_trigger_id::text;
        get diagnostics v_n = row_count;
        v_total := v_total + v_n;
        with gone as (
            delete from core.parked p
             where p.queue_name = v_queue and p.message ->> 'triggerId' = p_trigger_id::text
            returning p.*)
        insert into core.delayed (
            due_at, queue_name, event_type, message, headers, msg_id, read_ct, enqueued_at, last_read_at)
        select 'infinity', v_queue, g.event_type, g.message,
               core_private.headers_object(g.headers) || core_private.held_header(v_now),
               g.msg_id, g.read_ct, g.enqueued_at, g.last_read_at
          from gone g
         order by g.msg_id;
        get diagnostics v_n = row_count;
        v_total := v_total + v_n;
        continue when to_regclass(core_private.queue_relation(v_queue)) is null;
        execute format($q$
            with found as materialized (
                select q.ctid as tid
                  from %1$s q
                 where q.message ->> 'triggerId' = $2
                   and not (q.vt > $3 and core_private.is_leased(q.vt, q.read_ct, q.headers))
                 order by q.msg_id for update skip locked),
            gone as (
                delete from %1$s q using found f where q.ctid = f.tid returning q.*)
            insert into core.delayed (
                due_at, queue_name, event_type, message, headers, msg_id, read_ct, enqueued_at, last_read_at)
            select 'infinity', $1, coalesce(core_private.event_type_of(g.message), 'unknown.raw'), g.message,
                   core_private.headers_object(g.headers) || core_private.held_header(g.vt),
                   g.msg_id, g.read_ct, g.enqueued_at, g.last_read_at
              from gone g
             order by g.msg_id
            $q$, core_private.queue_relation(v_queue))
          using v_queue, p_trigger_id::text, v_now;
        get diagnostics v_n = row_count;
        v_total := v_total + v_n;
    end loop;
    return v_total;
end $$;
comment on function core_private.hold_deliveries(text, uuid) is 'Sets aside what waits of a trigger, on queues, delayed or parked, until the trigger is enabled; returns how many. The caller has locked the trigger.';
