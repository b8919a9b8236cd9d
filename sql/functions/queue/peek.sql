create or replace function core.peek(p_queue text, p_limit integer = 10)
returns table (
    msg_id bigint, read_ct integer, enqueued_at timestamptz, vt timestamptz,
    event_type text, message jsonb, headers jsonb, state text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_owner record;
begin
    select q.namespace, n.restricted
      into v_owner
      from core.queues q
      join core.namespaces n on n.namespace = q.namespace
     where q.queue_name = p_queue and q.dropped_at is null;
    if not found or not core_private.has_duty(v_owner.namespace, 'read', v_owner.restricted) then
        perform core_private.queue_owner(p_queue, 'read');
    end if;
    if to_regclass(core_private.queue_relation(p_queue)) is null then
        perform core_private.fail_lost_queue(p_queue);
    end if;
    perform core_private.check_number(p_limit, 'p_limit', 1, 1000);
    return query execute format($q$
        with head as materialized (
            select q.msg_id, q.read_ct, q.enqueued_at, q.vt,
                   coalesce(core_private.event_type_of(q.message), 'unknown.raw'), q.message, q.headers,
                   case when q.vt <= $2 then 'visible'
                        when core_private.is_leased(q.vt, q.read_ct, q.headers) then 'in_flight'
                        else 'waiting' end
              from %s q
             order by q.msg_id limit $1),
        aside as (
            select p.msg_id, p.read_ct, p.enqueued_at, null::timestamptz,
                   p.event_type, p.message, p.headers, 'parked'
              from core.parked p
             where p.queue_name = $3
             order by p.event_type, p.msg_id limit $1),
        later as (
            select d.msg_id, coalesce(d.read_ct, 0), d.enqueued_at, nullif(d.due_at, 'infinity'),
                   d.event_type, d.message, d.headers, 'delayed'
              from core.delayed d
             where d.queue_name = $3
             order by d.due_at limit $1)
        select * from head
         union all
        select * from aside
         union all
        select * from later
         limit $1
        $q$, core_private.queue_relation(p_queue))
      using p_limit, v_now, p_queue;
end $$;
comment on function core.peek(text, integer) is 'The oldest messages of a queue, then, if there is room, those that are parked and those that wait apart for their time; reads only, so no attempt is used up. event_type: unknown.raw for a message that is no envelope. state: visible (to be claimed now), waiting (on the queue, for its due time), in_flight, parked (no live node handles the type) or delayed (off the queue until its due time; msg_id is NULL if it has not been there yet, vt if its trigger is held). Raises NX006, NX103, NX110, NX401, NX402.';
