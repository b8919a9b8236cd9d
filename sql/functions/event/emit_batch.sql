-- One statement writes the log, the queues and what is delayed: message ids are drawn before, so that each event knows its own.
create or replace function core.emit_batch(p_namespace text, p_event_types text[], p_payloads jsonb[], p_options jsonb[] = null)
returns table (event_id bigint, event_uid uuid, message_id bigint, duplicate boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now       timestamptz := core_private.now();
    v_n         integer := cardinality(p_event_types);
    v_options   boolean;
    v_ns        record;
    v_consumer  record;
    v_default   text;
    v_bytes     bigint;
    v_queues    text := '';
    v_keys      text[];
    v_i         bigint;
begin
    select n.restricted, n.max_payload_bytes, n.dedupe_for, n.default_consumer into v_ns from core.namespaces n where n.namespace = p_namespace;
    if not found or not core_private.has_duty(p_namespace, 'produce', v_ns.restricted) then
        perform core_private.require_duty(p_namespace, 'produce');
    end if;
    if v_n is null or cardinality(p_payloads) is distinct from v_n or (p_options is not null and cardinality(p_options) <> v_n) then
        raise exception using errcode = 'NX006', column = 'p_payloads',
            message = format('the arrays differ in length: %s event types, %s payloads, %s options', coalesce(v_n::text, 'no'),
                             coalesce(cardinality(p_payloads)::text, 'no'), coalesce(cardinality(p_options)::text, 'no')),
            hint = 'Give one payload for each event type; p_options is NULL or as long.';
    end if;
    if v_n > 10000 then
        raise exception using errcode = 'NX602', column = 'p_event_types',
            message = format('the batch has %s events, at most 10000 are allowed', v_n), hint = 'Split it; calls in one transaction still commit together.';
    end if;
    if v_n = 0 then
        return;
    end if;
    select u.n into v_i from unnest(p_event_types) with ordinality u(t, n)
     where core_private.is_event_type(u.t) is not true order by u.n limit 1;
    if found then
        perform core_private.check_event_type(p_event_types[array_lower(p_event_types, 1) + v_i - 1], format('p_event_types[%s]', v_i));
    end if;
    select sum(case when octet_length(u.p::text) < 255 then octet_length(u.p::text)
                    else core_private.check_payload(u.p, v_ns.max_payload_bytes, format('p_payloads[%s]', u.n)) end)
      into v_bytes from unnest(p_payloads) with ordinality u(p, n);
    if v_bytes > 67108864 then
        raise exception using errcode = 'NX603', column = 'p_payloads',
            message = format('the payloads have %s bytes together, at most 67108864 are allowed', v_bytes), hint = 'Split the batch.';
    end if;
    v_options := exists (select from unnest(p_options) o where o <> '{}');

    perform pg_current_xact_id();
    if v_options then
        perform core_private.parse_emit_options(o.value, v_now, format('[%s]', o.n)) from unnest(p_options) with ordinality o(value, n);
        v_keys := array(select o.value ->> 'dedupe_key' from unnest(p_options) o(value) where o.value ? 'dedupe_key');
    end if;

    for v_consumer in select c.name, c.queue_name, c.patterns from core.consumers c where c.namespace = p_namespace and c.kind = 'unordered' loop
        if v_consumer.name = 'default' then
            continue when not v_ns.default_consumer;
            v_default := v_consumer.queue_name;
            v_queues := v_queues || format(
                ', q0 as (insert into %s (msg_id, vt, message, headers) overriding system value select s.message_id, $3, e.m, s.headers from src s join env e using (n) where s.message_id is not null)',
                core_private.queue_relation(v_consumer.queue_name));
        else
            v_queues := v_queues || format(
                ', %I as (insert into %s (vt, message, headers) select $3, e.m, s.headers from src s join env e using (n) where s.due_at is null and exists (select from unnest(%L::text[]) p where core_private.matches(p, s.event_type)))',
                'q_' || v_consumer.name, core_private.queue_relation(v_consumer.queue_name), v_consumer.patterns);
        end if;
        if v_options then
            v_queues := v_queues || format(
                ', %I as (insert into core.delayed (due_at, queue_name, event_type, message, headers) select s.due_at, %L, s.event_type, e.m, s.headers from src s join env e using (n) where s.due_at is not null and exists (select from unnest(%L::text[]) p where core_private.matches(p, s.event_type)))',
                'd_' || v_consumer.name, v_consumer.queue_name, v_consumer.patterns);
        end if;
        perform core_private.wake(v_consumer.queue_name, v_now);
    end loop;

    -- first: which event of the call speaks for its dedupe key.
    return query execute format($q$
        with keys as materialized (select k.key, k.event_id, k.event_uid, k.won from core_private.claim_keys($1, $5, $3, $6) k where cardinality($5) > 0),
        parsed as materialized (
            select t.n, t.event_type, p.payload, o.dedupe_key, o.ordering_key, o.due_at, o.headers, o.producer, o.correlation_id, o.causation_uid, o.broadcast,
                   o.authored_at, o.tags, o.depth, k.event_id as key_id, k.event_uid as key_uid,
                   k.key is not null and (not k.won or row_number() over (partition by o.dedupe_key order by t.n) > 1) as duplicate
              from unnest($2) with ordinality t(event_type, n)
              join unnest($4) with ordinality p(payload, n) using (n)
              %s
              left join keys k on k.key = o.dedupe_key),
        ids as materialized (
            select p.*, coalesce(p.key_id, nextval('core.event_id_seq')) as event_id, coalesce(p.key_uid, gen_random_uuid()) as event_uid from parsed p),
        src as materialized (
            select i.*, %s as message_id from ids i where not i.duplicate),
        env as materialized (
            select s.n, core_private.envelope($1, s.event_type, s.payload, $3, s.event_id, s.event_uid, s.producer, s.ordering_key, s.correlation_id,
                                              s.causation_uid, s.broadcast, s.authored_at, s.tags, s.depth) as m from src s)
        %s,
        log as (
            insert into core.event_log (event_id, namespace, event_type, payload, emitted_at, producer_node_id, metadata, event_uid, authored_at,
                                        correlation_id, causation_uid, depth, ordering_key, tags, headers, principal)
            select s.event_id, $1, s.event_type, s.payload, $3, s.producer,
                   case when s.message_id is null then '{}'::jsonb else jsonb_build_object('messageId', s.message_id) end, s.event_uid, s.authored_at,
                   s.correlation_id, s.causation_uid, s.depth, s.ordering_key, s.tags, s.headers, $7
              from src s)
        select i.event_id, i.event_uid, s.message_id, i.duplicate from ids i left join src s using (n) order by i.n
        $q$,
        case when v_options
             then 'join unnest($8) with ordinality r(options, n) using (n) cross join lateral core_private.parse_emit_options(r.options, $3, '''') o'
             else 'cross join (select null::text as dedupe_key, null::text as ordering_key, null::timestamptz as due_at, null::jsonb as headers, null::text as producer, null::text as correlation_id, null::uuid as causation_uid, false as broadcast, null::timestamptz as authored_at, null::text[] as tags, 0 as depth) o' end,
        case when v_default is null then 'null::bigint'
             else format('case when i.due_at is null then nextval(%L::regclass) end', core_private.queue_sequence(v_default)) end,
        v_queues)
    using p_namespace, p_event_types, v_now, p_payloads, coalesce(v_keys, '{}'), v_now + v_ns.dedupe_for, core_private.principal(), p_options;
end $$;
comment on function core.emit_batch(text, text[], jsonb[], jsonb[]) is 'Emits up to 10,000 events of at most 64 MB together, all or none; rows come back in input order. Options as for core.emit, one object an event. Of several events with one dedupe key the first counts. Raises what core.emit raises, and NX006, NX602, NX603; the field names the element.';
