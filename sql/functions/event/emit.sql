-- The hot path: one look at the namespace, the queue row first, then the log row with its message id. Ids are drawn
-- after the transaction has its own id, on which the order of lanes rests.
--
-- What an expression costs is to set it up, once in a transaction: for each function and each operator in it, whether
-- they are met or not, Postgres asks whether nexus_owner may call it. So rare things stand in branches and functions
-- of their own, and no function is called twice. Calls of pinned ones have the search path worked out anew. The
-- queue's row names every column with a default, which would be parsed anew otherwise.
create or replace function core.emit(
    p_namespace text, p_event_type text, p_payload jsonb = '{}', p_options jsonb = '{}')
returns table (event_id bigint, event_uid uuid, message_id bigint, duplicate boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now        timestamptz := core_private.now();
    v_caller     name        := session_user;
    v_principal  text;
    v_queue      text        := 'core_events_' || replace(p_namespace, '-', '_');
    v_restricted boolean;
    v_max_bytes  integer;
    v_dedupe_for interval;
    v_default    boolean;
    v_others     boolean;
    v_generation bigint;
    v_fired      bigint;
    v_triggers   text[];
    v_patterns   text[];
    v_wake       boolean;
    v_message    jsonb;
begin
    if current_setting('role') <> 'none' or v_caller = 'nexus_sql' then
        v_caller := core_private.caller();
        v_principal := core_private.principal();
    end if;
    select n.restricted, n.max_payload_bytes, n.dedupe_for, n.default_consumer, n.named_consumers,
           n.consumer_generation, n.trigger_patterns, n.trigger_generation,
           exists (select from core_private.wake_flags f where f.key = v_queue and f.waiting_until > v_now)
      into v_restricted, v_max_bytes, v_dedupe_for, v_default, v_others,
           v_generation, v_triggers, v_fired,
           v_wake
      from core.namespaces n
     where n.namespace = p_namespace;
    -- What passes takes one expression.
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
    if v_triggers is not null then
        -- What an SQL handler emits is one deeper than what it handles. Most types that no trigger matches are told by
        -- one comparison, since prefixes of all lengths take a loop.
        if v_triggers && array['*', p_event_type, '>' || split_part(translate(p_event_type, ':', '.'), '.', 1)]
           or current_setting('nexus.cause', true) <> '' then
            if current_setting('nexus.cause', true) <> '' then
                p_options := core_private.with_cause(p_options);
            end if;
            v_patterns := core_private.patterns_of(p_event_type);
            if not v_triggers && v_patterns then
                v_patterns := null;
            end if;
        end if;
    end if;
    if p_options is distinct from '{}' then
        select e.event_id, e.event_uid, e.message_id, e.duplicate
          into event_id, event_uid, message_id, duplicate
          from core_private.emit_with_options(
                   p_namespace, p_event_type, p_payload, p_options, v_now, coalesce(v_principal, v_caller),
                   case when v_default then v_queue end, v_others, v_generation, v_dedupe_for, v_patterns, v_fired) e;
        if v_patterns is not null then
            if '!' = any (v_triggers) and not duplicate then
                perform core_private.run_sync_triggers(p_namespace, array[event_id], v_now);
            end if;
        end if;
        return next;
        return;
    end if;

    event_id := case when pg_current_xact_id() is not null then nextval('core.event_id_seq') end;
    event_uid := gen_random_uuid();
    v_message := to_jsonb(row(
        p_namespace, p_event_type, p_payload, core_private.iso(v_now), null, event_id, event_uid)
        ::core_private.plain_message);
    if v_default then
        message_id := nextval(to_regclass(core_private.queue_sequence(v_queue)));
        if message_id is null then
            perform core_private.fail_lost_queue(v_queue);
        end if;
        execute 'insert into ' || core_private.queue_relation(v_queue)
            || '(msg_id,read_ct,enqueued_at,vt,message) overriding system value values($1,0,$2,$2,$3)'
          using message_id, v_now, v_message;
        if v_wake then
            perform core_private.wake(v_queue, v_now);
        end if;
    end if;
    if v_others then
        v_generation := core_private.deliver_to_others(p_namespace, p_event_type, v_message, null, null, v_now);
    end if;
    if v_patterns is not null then
        v_fired := core_private.fire_triggers(
            p_namespace, p_event_type, v_patterns, p_payload, v_message, null, null, v_now, 0);
    end if;
    insert into core.event_log (
        event_id, namespace, event_type, payload, emitted_at, event_uid, depth, consumer_generation,
        trigger_generation, metadata, principal)
    values (
        event_id, p_namespace, p_event_type, p_payload, v_now, event_uid, 0, nullif(v_generation, 0),
        nullif(v_fired, 0),
        case when message_id is null then '{}' else jsonb_build_object('messageId', message_id) end,
        coalesce(v_principal, v_caller));
    duplicate := false;
    if v_patterns is not null then
        if '!' = any (v_triggers) then
            perform core_private.run_sync_triggers(p_namespace, array[event_id], v_now);
        end if;
    end if;
    return next;
end $$;
comment on function core.emit(text, text, jsonb, jsonb) is 'Emits one event in the caller''s transaction: a log row and a delivery to each matching consumer, or nothing. message_id is that on the default queue, NULL while delayed and for a duplicate. Options: dedupe_key, dedupe_while (queued: the key ends when a node takes the event; pending: when it has been handled), ordering_key, deliver_at or delay, headers, producer, correlation_id, causation_uid, authored_at, tags, depth, priority (1 to 4, 1 comes first and is the default; consumers without levels go by order alone), broadcast (to each node of the namespace as well; not with a delay). What triggers that are sync raise is raised. Raises 42501, NX001, NX002, NX003, NX004, NX005, NX015, NX101, NX110, NX215, NX401, NX402, NX601, NX604.';
