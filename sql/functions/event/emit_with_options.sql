-- Apart from core.emit, which has asked whether the caller may, since what an emit costs in a transaction of its own
-- grows with what stands in its function.
create or replace function core_private.emit_with_options(
    p_namespace text, p_event_type text, p_payload jsonb, p_options jsonb, p_now timestamptz, p_principal text,
    p_queue text, p_others boolean, p_generation bigint, p_dedupe_for interval,
    p_patterns text[], p_fired bigint,
    out event_id bigint, out event_uid uuid, out message_id bigint, out duplicate boolean)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_o          record;
    v_key        record;
    v_message    jsonb;
    v_held_id    bigint;
    v_generation bigint := p_generation;
begin
    select o.* into v_o from core_private.parse_emit_options(p_options, p_now) o;
    perform pg_current_xact_id();
    duplicate := false;
    if v_o.dedupe_key is not null then
        select k.event_id, k.event_uid, k.won, k.msg_id
          into v_key
          from core_private.claim_keys(
                   p_namespace, array[v_o.dedupe_key], p_now, p_now + p_dedupe_for,
                   case when v_o.dedupe_while is null then '{}' else array[v_o.dedupe_key] end,
                   case when v_o.dedupe_while = 'queued' then array[v_o.dedupe_key] else '{}' end,
                   array[v_o.priority]) k;
        event_id := v_key.event_id;
        event_uid := v_key.event_uid;
        if not v_key.won then
            duplicate := true;
            return;
        end if;
        v_held_id := v_key.msg_id;
    else
        event_id := nextval('core.event_id_seq');
        event_uid := gen_random_uuid();
    end if;
    v_message := core_private.envelope(
        p_namespace, p_event_type, p_payload, p_now, event_id, event_uid, v_o.producer, v_o.ordering_key,
        v_o.correlation_id, v_o.causation_uid, v_o.broadcast, v_o.authored_at, v_o.tags, v_o.depth);
    if v_o.priority is not null then
        v_message := v_message || jsonb_build_object('priority', v_o.priority);
        if p_queue is not null and v_o.due_at is null and v_held_id is null then
            v_held_id := nextval(to_regclass(core_private.queue_sequence(p_queue)))
                         + core_private.default_offset(p_namespace, v_o.priority);
        end if;
    end if;

    if p_queue is null then
        null;
    elsif v_o.due_at is null then
        message_id := coalesce(v_held_id, nextval(to_regclass(core_private.queue_sequence(p_queue))));
        if message_id is null then
            perform core_private.fail_lost_queue(p_queue);
        end if;
        execute 'insert into ' || core_private.queue_relation(p_queue)
            || '(msg_id,read_ct,enqueued_at,vt,message,headers) overriding system value values($1,0,$2,$2,$3,$4)'
          using message_id, p_now, v_message, v_o.headers;
    elsif v_held_id is null then
        insert into core.delayed (due_at, queue_name, event_type, message, headers)
        values (v_o.due_at, p_queue, p_event_type, v_message, v_o.headers);
    else
        insert into core.delayed (due_at, queue_name, event_type, message, headers, msg_id, read_ct, enqueued_at)
        values (
            v_o.due_at, p_queue, p_event_type, v_message,
            core_private.headers_object(v_o.headers)
                || jsonb_build_object('nexus-due', core_private.iso(v_o.due_at)),
            v_held_id, 0, v_o.due_at);
    end if;
    -- Looked up here and not with the namespace, since a key may have been waited for.
    if message_id is not null
       and exists (select from core_private.wake_flags f where f.key = p_queue and f.waiting_until > p_now) then
        perform core_private.wake(p_queue, p_now);
    end if;
    if p_others then
        v_generation := core_private.deliver_to_others(
            p_namespace, p_event_type, v_message, v_o.headers, v_o.due_at, p_now, v_o.priority);
    end if;
    if p_patterns is not null then
        p_fired := core_private.fire_triggers(
            p_namespace, p_event_type, p_patterns, p_payload, v_message, v_o.headers, v_o.due_at, p_now, v_o.depth);
    end if;
    if v_o.broadcast then
        perform core_private.store_broadcast(
            p_namespace, event_id, event_uid, p_event_type, v_message, v_o.headers, p_now);
    end if;

    insert into core.event_log (
        event_id, namespace, event_type, payload, emitted_at, producer_node_id,
        metadata,
        event_uid, authored_at, correlation_id, causation_uid, depth, ordering_key, tags,
        headers, deliver_at, consumer_generation, trigger_generation, priority, principal)
    values (
        event_id, p_namespace, p_event_type, p_payload, p_now, v_o.producer,
        case when coalesce(message_id, v_held_id) is null then '{}'::jsonb
             else jsonb_build_object('messageId', coalesce(message_id, v_held_id)) end,
        event_uid, v_o.authored_at, v_o.correlation_id, v_o.causation_uid, v_o.depth, v_o.ordering_key, v_o.tags,
        v_o.headers, v_o.due_at, nullif(v_generation, 0), nullif(p_fired, 0), v_o.priority, p_principal);
end $$;
comment on function core_private.emit_with_options(text, text, jsonb, jsonb, timestamptz, text, text, boolean, bigint, interval, text[], bigint) is 'core.emit for an event with options, once its caller, type and payload have been checked. p_queue is that of the consumer default, NULL where the namespace has it off; p_others says whether there are named consumers, p_patterns are those by which triggers can match, NULL if none can, p_fired the generation of the triggers that was read with them. Raises NX004, NX005, NX101, NX110, NX604.';
