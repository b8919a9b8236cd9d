-- What makes a delivery for a handler puts it on a queue here, whatever the reason. p_message is the envelope of the
-- event, with what the reason adds to it.
create or replace function core_private.deliver_routed(
    p_queue text, p_target text, p_message jsonb, p_headers jsonb, p_due_at timestamptz, p_now timestamptz)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_message    jsonb := p_message
        || jsonb_build_object('eventType', p_target, 'sourceType', p_message -> 'eventType');
    v_message_id bigint;
begin
    if p_due_at is not null then
        insert into core.delayed (due_at, queue_name, event_type, message, headers)
        values (p_due_at, p_queue, p_target, v_message, p_headers);
        return null;
    end if;
    v_message_id := nextval(to_regclass(core_private.queue_sequence(p_queue)));
    if v_message_id is null then
        perform core_private.fail_lost_queue(p_queue);
    end if;
    execute 'insert into ' || core_private.queue_relation(p_queue)
        || '(msg_id,read_ct,enqueued_at,vt,message,headers) overriding system value values($1,0,$2,$2,$3,$4)'
      using v_message_id, p_now, v_message, p_headers;
    if exists (select from core_private.wake_flags f where f.key = p_queue and f.waiting_until > p_now) then
        perform core_private.wake(p_queue, p_now);
    end if;
    return v_message_id;
end $$;
comment on function core_private.deliver_routed(text, text, jsonb, jsonb, timestamptz, timestamptz) is 'Delivers an event to the handler of that key by the queue of a routed consumer; returns the message id, NULL where it is due later. Raises NX110.';
