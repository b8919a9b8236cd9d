-- Apart from emit, since most namespaces have the consumer default alone. Not by core_private.delivery_plan:
-- for one event the statement it makes costs twice as much as these inserts. A further kind of consumer
-- is a branch here and there. The generation is read with the consumers: the log's row says so which of them it met.
create or replace function core_private.deliver_to_others(
    p_namespace text, p_event_type text, p_message jsonb, p_headers jsonb, p_due_at timestamptz, p_now timestamptz,
    p_priority integer = null)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_consumer   record;
    v_message_id bigint;
    v_generation bigint;
begin
    for v_consumer in
        select nullif(n.consumer_generation, 0) as generation, c.consumer_id, c.kind, c.queue_name,
               core_private.level_offset(c.levels, p_priority) as level_offset,
               exists (select from core_private.wake_flags f
                        where f.key = c.queue_name and f.waiting_until > p_now) as wake
          from core.namespaces n
          left join lateral core_private.consumers_of(p_namespace, array[p_event_type], false) c on true
         where n.namespace = p_namespace
         order by c.consumer_id
    loop
        v_generation := v_consumer.generation;
        continue when v_consumer.kind is null;
        case v_consumer.kind
        when 'unordered' then
            if p_due_at is not null then
                insert into core.delayed (due_at, queue_name, event_type, message, headers)
                values (p_due_at, v_consumer.queue_name, p_event_type, p_message, p_headers);
                continue;
            end if;
            v_message_id := nextval(to_regclass(core_private.queue_sequence(v_consumer.queue_name)))
                            + v_consumer.level_offset;
            if v_message_id is null then
                perform core_private.fail_lost_queue(v_consumer.queue_name);
            end if;
            execute 'insert into ' || core_private.queue_relation(v_consumer.queue_name)
                || '(msg_id,read_ct,enqueued_at,vt,message,headers) overriding system value values($1,0,$2,$2,$3,$4)'
              using v_message_id, p_now, p_message, p_headers;
            if v_consumer.wake then
                perform core_private.wake(v_consumer.queue_name, p_now);
            end if;
        when 'ordered' then
            perform core_private.deliver_to_lane(
                p_namespace, v_consumer.consumer_id, p_event_type, p_message, p_headers, p_due_at, p_now);
        else
            null;
        end case;
    end loop;
    return v_generation;
end $$;
comment on function core_private.deliver_to_others(text, text, jsonb, jsonb, timestamptz, timestamptz, integer) is 'Delivers an event to the named consumers whose patterns match; returns the generation of them all. Raises NX110, NX225.';
