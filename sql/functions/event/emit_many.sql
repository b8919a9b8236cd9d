-- One statement writes the log, the queues and what is delayed: message ids are drawn before, so that each event knows its own. Compiling
-- it would take longer than running it, and how many rows come out of arrays is only guessed.
create or replace function core_private.emit_many(
    p_namespace text, p_event_types text[], p_payloads jsonb[], p_options jsonb[], p_now timestamptz, p_event_uids uuid[] = null, p_principals text[] = null)
returns table (event_id bigint, event_uid uuid, message_id bigint, duplicate boolean)
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
    v_options  boolean := exists (select from unnest(p_options) o where o <> '{}');
    v_ns       record;
    v_consumer record;
    v_default  text;
    v_queues   text := '';
    v_there    boolean;
    v_lost     text;
    v_keys     text[];
    v_pending  text[] := '{}';
    v_queued   text[] := '{}';
begin
    select n.dedupe_for, n.default_consumer into v_ns from core.namespaces n where n.namespace = p_namespace;
    perform pg_current_xact_id();
    if v_options then
        perform core_private.parse_emit_options(o.value, p_now, format('[%s]', o.n)) from unnest(p_options) with ordinality o(value, n);
        v_keys := array(select o.value ->> 'dedupe_key' from unnest(p_options) o(value) where o.value ? 'dedupe_key');
        -- The first event with a key speaks for it, also in this.
        select coalesce(array_agg(f.key), '{}'), coalesce(array_agg(f.key) filter (where f.holds = 'queued'), '{}') into v_pending, v_queued
          from (select distinct on (o.value ->> 'dedupe_key') o.value ->> 'dedupe_key' as key, o.value ->> 'dedupe_while' as holds
                  from unnest(p_options) with ordinality o(value, n) where o.value ? 'dedupe_key' order by 1, o.n) f
         where f.holds is not null;
    end if;

    for v_consumer in select c.name, c.queue_name, c.patterns from core.consumers c where c.namespace = p_namespace and c.kind = 'unordered' loop
        continue when v_consumer.name = 'default' and not v_ns.default_consumer;
        v_there := to_regclass(core_private.queue_relation(v_consumer.queue_name)) is not null;
        if not v_there then
            -- What is delayed needs no queue yet.
            select core_private.lost_queue_for(p_namespace, e.t) into v_lost
              from unnest(p_event_types, p_options) e(t, o) left join lateral core_private.parse_emit_options(coalesce(e.o, '{}'), p_now, '') x on e.o is not null
             where x.due_at is null and core_private.lost_queue_for(p_namespace, e.t) is not null limit 1;
            if found then
                perform core_private.fail_lost_queue(v_lost);
            end if;
        elsif v_consumer.name = 'default' then
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
                $q$, %I as (insert into core.delayed (due_at, queue_name, event_type, message, headers, msg_id, read_ct, enqueued_at)
                     select s.due_at, %L, s.event_type, e.m,
                            case when %s is null then s.headers else core_private.headers_object(s.headers) || jsonb_build_object('nexus-due', core_private.iso(s.due_at)) end,
                            %3$s, case when %3$s is not null then 0 end, case when %3$s is not null then s.due_at end
                       from src s join env e using (n) where s.due_at is not null and exists (select from unnest(%L::text[]) p where core_private.matches(p, s.event_type)))$q$,
                'd_' || v_consumer.name, v_consumer.queue_name, case when v_consumer.name = 'default' then 's.held_id' else 'null::bigint' end, v_consumer.patterns);
        end if;
        perform core_private.wake(v_consumer.queue_name, p_now);
    end loop;

    -- first: which event of the call speaks for its dedupe key.
    return query execute format($q$
        with keys as materialized (select k.key, k.event_id, k.event_uid, k.won, k.msg_id from core_private.claim_keys($1, $5, $3, $6, $11, $12) k where cardinality($5) > 0),
        parsed as materialized (
            select t.n, t.event_type, t.payload, o.dedupe_key, o.ordering_key, o.due_at, o.headers, o.producer, o.correlation_id, o.causation_uid, o.broadcast,
                   o.authored_at, o.tags, o.depth, k.event_id as key_id, k.event_uid as key_uid, k.msg_id as held_id, t.given_uid, coalesce(t.principal, $7) as principal,
                   k.key is not null and (not k.won or row_number() over (partition by o.dedupe_key order by t.n) > 1) as duplicate
              from unnest($2, $4, $8, $9, $10) with ordinality t(event_type, payload, options, given_uid, principal, n)
             cross join %s o
              left join keys k on k.key = o.dedupe_key),
        ids as materialized (
            select p.*, coalesce(p.key_id, nextval('core.event_id_seq')) as event_id, coalesce(p.key_uid, p.given_uid, gen_random_uuid()) as event_uid from parsed p),
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
                   case when coalesce(s.message_id, s.held_id) is null then '{}'::jsonb else jsonb_build_object('messageId', coalesce(s.message_id, s.held_id)) end, s.event_uid, s.authored_at,
                   s.correlation_id, s.causation_uid, s.depth, s.ordering_key, s.tags, s.headers, s.principal
              from src s)
        select i.event_id, i.event_uid, s.message_id, i.duplicate from ids i left join src s using (n) order by i.n
        $q$,
        case when v_options
             then 'lateral core_private.parse_emit_options(coalesce(t.options, ''{}''), $3, '''')'
             else '(select null::text as dedupe_key, null::text as ordering_key, null::timestamptz as due_at, null::jsonb as headers, null::text as producer, null::text as correlation_id, null::uuid as causation_uid, false as broadcast, null::timestamptz as authored_at, null::text[] as tags, 0 as depth)' end,
        case when v_default is null then 'null::bigint'
             else format('case when i.due_at is null then coalesce(i.held_id, nextval(%L::regclass)) end', core_private.queue_sequence(v_default)) end,
        v_queues)
    using p_namespace, p_event_types, p_now, p_payloads, coalesce(v_keys, '{}'), p_now + v_ns.dedupe_for, core_private.principal(), p_options, p_event_uids, p_principals, v_pending, v_queued;
end $$;
comment on function core_private.emit_many(text, text[], jsonb[], jsonb[], timestamptz, uuid[], text[]) is 'Writes events whose arguments have been checked: log, queues, delays. The last two arguments are for events that were accepted earlier: their uids, and who had them emitted. Raises NX004, NX005, NX110, NX604.';
