create or replace function core.peek(p_queue text, p_limit integer = 10)
returns table (msg_id bigint, read_ct integer, enqueued_at timestamptz, vt timestamptz, event_type text, message jsonb, headers jsonb, state text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_owner record;
begin
    select q.namespace, n.restricted into v_owner from core.queues q join core.namespaces n on n.namespace = q.namespace where q.queue_name = p_queue;
    if not found or not core_private.has_duty(v_owner.namespace, 'read', v_owner.restricted) then
        perform core_private.queue_owner(p_queue, 'read');
    end if;
    if p_limit is null or p_limit not between 1 and 1000 then
        raise exception using errcode = 'NX006', column = 'p_limit', message = format('p_limit cannot be %s', coalesce(p_limit::text, 'NULL')), hint = 'Give 1 to 1000.';
    end if;
    return query execute format($q$
        select q.msg_id, q.read_ct, q.enqueued_at, q.vt, core_private.event_type_of(q.message),
               q.message, q.headers,
               case when q.vt <= $2 then 'visible' when q.headers ->> 'nexus-due' = core_private.iso(q.vt) then 'waiting' when q.read_ct > 0 then 'in flight' else 'waiting' end
          from %s q order by q.msg_id limit $1
        $q$, core_private.queue_relation(p_queue)) using p_limit, core_private.now();
end $$;
comment on function core.peek(text, integer) is 'The oldest messages of a queue; reads only, so no attempt is used up. state: visible, waiting (for its due time) or in flight. Raises NX006, NX103, NX401, NX402.';
