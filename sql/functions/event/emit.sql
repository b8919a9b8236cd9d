-- The hot path: one look at the namespace, the queue row first, then the log row with its message id. Ids are drawn after the
-- transaction has its own id, on which the order of lanes rests.
create or replace function core.emit(p_namespace text, p_event_type text, p_payload jsonb = '{}', p_options jsonb = '{}')
returns table (event_id bigint, event_uid uuid, message_id bigint, duplicate boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now        timestamptz := core_private.now();
    v_ns         record;
    v_opt        record;
    v_consumer   record;
    v_message    jsonb;
    v_event_id   bigint;
    v_event_uid  uuid;
    v_message_id bigint;
begin
    select n.restricted, n.max_payload_bytes, n.dedupe_for, n.default_consumer into v_ns from core.namespaces n where n.namespace = p_namespace;
    if not found or not core_private.has_duty(p_namespace, 'produce', v_ns.restricted) then
        perform core_private.require_duty(p_namespace, 'produce');
    end if;
    perform core_private.check_event_type(p_event_type);
    perform core_private.check_payload(p_payload, v_ns.max_payload_bytes);
    select * into v_opt from core_private.parse_emit_options(p_options, v_now);

    perform pg_current_xact_id();
    if v_opt.dedupe_key is not null then
        select k.event_id, k.event_uid, k.won into v_consumer
          from core_private.claim_keys(p_namespace, array[v_opt.dedupe_key], v_now, v_now + v_ns.dedupe_for) k;
        if not v_consumer.won then
            return query select v_consumer.event_id, v_consumer.event_uid, null::bigint, true;
            return;
        end if;
        v_event_id := v_consumer.event_id;
        v_event_uid := v_consumer.event_uid;
    else
        v_event_id := nextval('core.event_id_seq');
        v_event_uid := gen_random_uuid();
    end if;
    v_message := core_private.envelope(p_namespace, p_event_type, p_payload, v_now, v_event_id, v_event_uid, v_opt.producer, v_opt.ordering_key,
        v_opt.correlation_id, v_opt.causation_uid, v_opt.broadcast, v_opt.authored_at, v_opt.tags, v_opt.depth);

    for v_consumer in
        select c.name, c.queue_name from core.consumers c
         where c.namespace = p_namespace and c.kind = 'unordered'
           and case when c.name = 'default' then v_ns.default_consumer
                    else exists (select from unnest(c.patterns) p where core_private.matches(p, p_event_type)) end
    loop
        if v_opt.due_at is not null then
            insert into core.delayed (due_at, queue_name, event_type, message, headers)
            values (v_opt.due_at, v_consumer.queue_name, p_event_type, v_message, v_opt.headers);
        elsif v_consumer.name = 'default' then
            execute format('insert into %s (vt, message, headers) values ($1, $2, $3) returning msg_id', core_private.queue_relation(v_consumer.queue_name))
               into v_message_id using v_now, v_message, v_opt.headers;
            perform core_private.wake(v_consumer.queue_name, v_now);
        else
            execute format('insert into %s (vt, message, headers) values ($1, $2, $3)', core_private.queue_relation(v_consumer.queue_name))
              using v_now, v_message, v_opt.headers;
            perform core_private.wake(v_consumer.queue_name, v_now);
        end if;
    end loop;

    insert into core.event_log (event_id, namespace, event_type, payload, emitted_at, producer_node_id, metadata, event_uid, authored_at,
                                correlation_id, causation_uid, depth, ordering_key, tags, headers, principal)
    values (v_event_id, p_namespace, p_event_type, p_payload, v_now, v_opt.producer,
            case when v_message_id is null then '{}'::jsonb else jsonb_build_object('messageId', v_message_id) end, v_event_uid, v_opt.authored_at,
            v_opt.correlation_id, v_opt.causation_uid, v_opt.depth, v_opt.ordering_key, v_opt.tags, v_opt.headers, core_private.principal());
    return query select v_event_id, v_event_uid, v_message_id, false;
end $$;
comment on function core.emit(text, text, jsonb, jsonb) is 'Emits one event in the caller''s transaction: a log row and a delivery to each matching consumer, or nothing. message_id is that on the default queue, NULL while delayed and for a duplicate. Options: dedupe_key, ordering_key, deliver_at or delay, headers, producer, correlation_id, causation_uid, broadcast, authored_at, tags, depth. Raises NX001, NX002, NX003, NX004, NX005, NX101, NX401, NX402, NX601, NX604.';
