-- The hot path: one look at the namespace, the queue row first, then the log row with its message id. Ids are drawn
-- after the transaction has its own id, on which the order of lanes rests. Checks that pass call no function of their
-- own: each call of a pinned one makes the search path be worked out anew. The queue's row names every column with a
-- default, which would be parsed anew otherwise.
create or replace function core.emit(
    p_namespace text, p_event_type text, p_payload jsonb = '{}', p_options jsonb = '{}')
returns table (event_id bigint, event_uid uuid, message_id bigint, duplicate boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now            timestamptz := core_private.now();
    v_restricted     boolean;
    v_max_bytes      integer;
    v_dedupe_for     interval;
    v_queue          text;
    v_key            record;
    v_message        jsonb;
    v_others         boolean;
    v_generation     bigint;
    v_event_id       bigint;
    v_event_uid      uuid;
    v_message_id     bigint;
    v_dedupe_key     text;
    v_ordering_key   text;
    v_due_at         timestamptz;
    v_headers        jsonb;
    v_producer       text;
    v_correlation_id text;
    v_causation_uid  uuid;
    v_broadcast      boolean := false;
    v_authored_at    timestamptz;
    v_tags           text[];
    v_depth          integer := 0;
    v_while          text;
    v_held_id        bigint;
    v_priority       smallint;
    v_caller         name    := case when current_setting('role') = 'none' then session_user::name
                                     else current_setting('role')::name end;
begin
    select n.restricted, n.max_payload_bytes, n.dedupe_for,
           case when n.default_consumer then 'core_events_' || replace(p_namespace, '-', '_') end, n.named_consumers,
           nullif(n.consumer_generation, 0)
      into v_restricted, v_max_bytes, v_dedupe_for,
           v_queue, v_others,
           v_generation
      from core.namespaces n
     where n.namespace = p_namespace;
    -- What passes takes one expression: each costs as much to set up, in every transaction, as to work out.
    if (found and not v_restricted
        and pg_has_role(v_caller, 'nexus_producer', 'member') and not pg_has_role(v_caller, 'nexus_admin', 'member')
        and core_private.is_event_type(p_event_type)) is not true then
        if v_max_bytes is null or v_restricted or not pg_has_role(v_caller, 'nexus_producer', 'member') then
            perform core_private.require_duty(p_namespace, 'produce');
        elsif pg_has_role(v_caller, 'nexus_admin', 'member') then
            perform core_private.refuse_borrowed_session(); -- the log would name the administrator
        end if;
        perform core_private.check_event_type(p_event_type);
    end if;
    if (octet_length(p_payload::text) < 255) is not true then
        perform core_private.check_payload(p_payload, v_max_bytes);
    end if;
    if p_options is distinct from '{}' then
        select o.dedupe_key, o.ordering_key, o.due_at, o.headers, o.producer,
               o.correlation_id, o.causation_uid, o.broadcast, o.authored_at, o.tags, o.depth,
               o.dedupe_while, o.priority
          into v_dedupe_key, v_ordering_key, v_due_at, v_headers, v_producer,
               v_correlation_id, v_causation_uid, v_broadcast, v_authored_at, v_tags, v_depth,
               v_while, v_priority
          from core_private.parse_emit_options(p_options, v_now) o;
    end if;

    perform pg_current_xact_id();
    if v_dedupe_key is not null then
        select k.event_id, k.event_uid, k.won, k.msg_id
          into v_key
          from core_private.claim_keys(
                   p_namespace, array[v_dedupe_key], v_now, v_now + v_dedupe_for,
                   case when v_while is null then '{}' else array[v_dedupe_key] end,
                   case when v_while = 'queued' then array[v_dedupe_key] else '{}' end, array[v_priority]) k;
        if not v_key.won then
            return query select v_key.event_id, v_key.event_uid, null::bigint, true;
            return;
        end if;
        v_event_id := v_key.event_id;
        v_event_uid := v_key.event_uid;
        v_held_id := v_key.msg_id;
    else
        v_event_id := nextval('core.event_id_seq');
        v_event_uid := gen_random_uuid();
    end if;
    if p_options = '{}' then
        v_message := to_jsonb(row(
            p_namespace, p_event_type, p_payload, core_private.iso(v_now), null, v_event_id, v_event_uid)
            ::core_private.plain_message);
    else
        v_message := core_private.envelope(
            p_namespace, p_event_type, p_payload, v_now, v_event_id, v_event_uid, v_producer, v_ordering_key,
            v_correlation_id, v_causation_uid, v_broadcast, v_authored_at, v_tags, v_depth);
        if v_priority is not null then
            v_message := v_message || jsonb_build_object('priority', v_priority);
            if v_queue is not null and v_due_at is null and v_held_id is null then
                v_held_id := nextval(to_regclass(core_private.queue_sequence(v_queue)))
                             + core_private.default_offset(p_namespace, v_priority);
            end if;
        end if;
    end if;

    if v_queue is null then
        null;
    elsif v_due_at is null then
        v_message_id := coalesce(v_held_id, nextval(to_regclass(core_private.queue_sequence(v_queue))));
        if v_message_id is null then
            perform core_private.fail_lost_queue(v_queue);
        end if;
        execute format($q$
            insert into %s (msg_id, read_ct, enqueued_at, vt, message, headers) overriding system value
            values ($1, 0, $2, $2, $3, $4)
            $q$, core_private.queue_relation(v_queue))
          using v_message_id, v_now, v_message, v_headers;
    elsif v_held_id is null then
        insert into core.delayed (due_at, queue_name, event_type, message, headers)
        values (v_due_at, v_queue, p_event_type, v_message, v_headers);
    else
        insert into core.delayed (due_at, queue_name, event_type, message, headers, msg_id, read_ct, enqueued_at)
        values (
            v_due_at, v_queue, p_event_type, v_message,
            core_private.headers_object(v_headers) || jsonb_build_object('nexus-due', core_private.iso(v_due_at)),
            v_held_id, 0, v_due_at);
    end if;
    if v_message_id is not null
       and exists (select from core_private.wake_flags f where f.key = v_queue and f.waiting_until > v_now) then
        perform core_private.wake(v_queue, v_now);
    end if;
    if v_others then
        v_generation := core_private.deliver_to_others(
            p_namespace, p_event_type, v_message, v_headers, v_due_at, v_now, v_priority);
    end if;
    if v_broadcast then
        perform core_private.store_broadcast(
            p_namespace, v_event_id, v_event_uid, p_event_type, v_message, v_headers, v_now);
    end if;

    insert into core.event_log (
        event_id, namespace, event_type, payload, emitted_at, producer_node_id,
        metadata,
        event_uid, authored_at, correlation_id, causation_uid, depth, ordering_key, tags, headers,
        deliver_at, consumer_generation, priority, principal)
    values (
        v_event_id, p_namespace, p_event_type, p_payload, v_now, v_producer,
        case when coalesce(v_message_id, v_held_id) is null then '{}'::jsonb
             else jsonb_build_object('messageId', coalesce(v_message_id, v_held_id)) end,
        v_event_uid, v_authored_at, v_correlation_id, v_causation_uid, v_depth, v_ordering_key, v_tags, v_headers,
        v_due_at, v_generation, v_priority,
        session_user || case when session_user = 'nexus_sql' then coalesce(' as ' || core_private.acting_for(), '')
                             when current_setting('role') in ('none', session_user) then ''
                             else ' as ' || current_setting('role') end);
    event_id := v_event_id;
    event_uid := v_event_uid;
    message_id := v_message_id;
    duplicate := false;
    return next;
end $$;
comment on function core.emit(text, text, jsonb, jsonb) is 'Emits one event in the caller''s transaction: a log row and a delivery to each matching consumer, or nothing. message_id is that on the default queue, NULL while delayed and for a duplicate. Options: dedupe_key, dedupe_while (queued: the key ends when a node takes the event; pending: when it has been handled), ordering_key, deliver_at or delay, headers, producer, correlation_id, causation_uid, authored_at, tags, depth, priority (1 to 4, 1 comes first and is the default; consumers without levels go by order alone), broadcast (to each node of the namespace as well; not with a delay). Raises NX001, NX002, NX003, NX004, NX005, NX101, NX110, NX401, NX402, NX601, NX604.';
