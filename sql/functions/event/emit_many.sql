-- One statement writes the log, the queues and what is delayed: message ids are drawn before, so that each
-- event knows its own. Compiling it would take longer than running it, and how many rows come out of arrays
-- is only guessed.
create or replace function core_private.emit_many(
    p_namespace text, p_event_types text[], p_payloads jsonb[], p_options jsonb[], p_now timestamptz,
    p_event_uids uuid[] = null, p_principals text[] = null)
returns table (event_id bigint, event_uid uuid, message_id bigint, duplicate boolean)
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
    v_options    boolean := exists (select from unnest(p_options) o where o <> '{}');
    v_dedupe_for interval;
    v_plan       record;
    v_types      text[] := core_private.distinct_types(p_event_types);
    v_fire       text := ''; -- what triggers add to the statement
    v_fired      text[] := '{}';
    v_triggers   boolean;
    v_plain      boolean; -- neither triggers nor ordered consumers
    v_met        text; -- the generation of the triggers that it meets
    v_loops      text := current_setting('enable_nestloop');
    v_at_once    boolean := true;
    v_delayed    boolean := false;
    v_queue      text;
    v_keys       text[] := '{}';
    v_pending    text[] := '{}';
    v_queued     text[] := '{}';
    v_priorities smallint[];
    v_prioritised boolean;
    v_src        text;
    v_broadcast  text := '';
    v_rows       text;
    v_statement  text;
    v_sync       boolean;
    v_ids        bigint[] := '{}';
begin
    select n.dedupe_for, n.trigger_patterns is not null, n.trigger_generation::text, '!' = any (n.trigger_patterns),
           n.trigger_patterns is null and cardinality(p_event_types) <= 200 -- of many, one statement costs less
           and not (n.named_consumers and exists (
                        select from core.consumers c where c.namespace = n.namespace and c.kind = 'ordered'))
      into v_dedupe_for, v_triggers, v_met, v_sync,
           v_plain
      from core.namespaces n
     where n.namespace = p_namespace;
    if v_triggers and current_setting('nexus.cause', true) <> '' then
        p_options := array(
            select core_private.with_cause(coalesce(u.o, '{}'))
              from unnest(p_event_types, p_options) with ordinality u(t, o, n)
             order by u.n);
        v_options := true;
    end if;
    perform pg_current_xact_id();
    if v_plain and not v_options and p_event_uids is null and p_principals is null then
        return query
            select * from core_private.emit_plain(
                              p_namespace, p_event_types, p_payloads, p_now, v_types, v_met::bigint);
        if found then
            return;
        end if;
    end if;
    if v_options then
        -- Only what decides about the statement is parsed before it.
        select bool_or(p.due_at is null), bool_or(p.due_at is not null)
          into v_at_once, v_delayed
          from (select case when u.value ?| array['deliver_at', 'delay', 'dedupe_key']
                            then (core_private.parse_emit_options(u.value, p_now, format('[%s]', u.n))).due_at
                            end as due_at
                  from unnest(p_options) with ordinality u(value, n) offset 0) p;
        v_keys := array(select o.value ->> 'dedupe_key' from unnest(p_options) o(value) where o.value ? 'dedupe_key');
        -- The first event with a key speaks for it, also in this.
        select coalesce(array_agg(f.key), '{}'), coalesce(array_agg(f.key) filter (where f.holds = 'queued'), '{}'),
               array_agg(f.priority)
          into v_pending, v_queued,
               v_priorities
          from (select distinct on (o.value ->> 'dedupe_key')
                       o.value ->> 'dedupe_key' as key, o.value ->> 'dedupe_while' as holds,
                       core_private.priority_of(o.value)::smallint as priority
                  from unnest(p_options) with ordinality o(value, n)
                 where o.value ? 'dedupe_key'
                 order by 1, o.n) f
         where f.holds is not null;
        v_prioritised := exists (select from unnest(p_options) o(value) where o.value ? 'priority');
        if exists (select from unnest(p_options) o(value) where o.value @> '{"broadcast": true}') then
            v_broadcast := $q$,
                broadcast as (
                    insert into core.broadcasts (
                        namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message, headers)
                    select $2, core_private.cluster_id(), pg_current_xact_id(), e.event_id, e.event_uid, e.event_type,
                           $1, e.message, e.headers
                      from src e
                     where e.broadcast
                     order by e.n)$q$;
            perform core_private.wake(core_private.broadcast_key(p_namespace), p_now);
        end if;
    end if;

    select * into v_plan from core_private.delivery_plan(
                             p_namespace, v_types, v_at_once, v_delayed, p_prioritised => v_prioritised);
    if v_triggers then
        select f.ctes, f.queues, f.generation
          into v_fire, v_fired, v_met
          from core_private.fire_plan(p_namespace, v_types) f;
    end if;
    if v_fire <> '' then
        perform set_config('enable_nestloop', 'off', true);
    end if;
    foreach v_queue in array v_plan.queues || v_fired loop
        perform core_private.wake(v_queue, p_now);
    end loop;

    -- What has no options needs no parsing and is never a duplicate.
    if v_options then
        v_src := $q$
            keys as materialized (
                select k.key, k.event_id, k.event_uid, k.won, k.msg_id
                  from core_private.claim_keys($2, $6, $1, $7, $11, $12, $14) k
                 where cardinality($6) > 0),
            -- duplicate: another event speaks for its dedupe key, of this call or of an earlier one.
            parsed as materialized (
                select t.n, t.event_type, t.payload, o.dedupe_key, o.ordering_key, o.due_at, o.headers, o.producer,
                       o.correlation_id, o.causation_uid, o.broadcast, o.authored_at, o.tags, o.depth, o.priority,
                       k.event_id as key_id, k.event_uid as key_uid, k.msg_id as held_id, t.given_uid,
                       coalesce(t.principal, $8) as principal,
                       k.key is not null
                       and (not k.won or row_number() over (partition by o.dedupe_key order by t.n) > 1) as duplicate
                  from unnest($3, $4, $5, $9, $10)
                       with ordinality t(event_type, payload, options, given_uid, principal, n)
                 cross join lateral core_private.parse_emit_options(t.options, $1, format('[%s]', t.n)) o
                  left join keys k on k.key = o.dedupe_key),
            ids as materialized (
                select p.*, coalesce(p.key_id, nextval('core.event_id_seq')) as event_id,
                       coalesce(p.key_uid, p.given_uid, gen_random_uuid()) as event_uid
                  from parsed p),
            src as materialized (
                select e.*, core_private.envelope(
                           $2, e.event_type, e.payload, $1, e.event_id, e.event_uid, e.producer, e.ordering_key,
                           e.correlation_id, e.causation_uid, e.broadcast, e.authored_at, e.tags, e.depth)$q$
                 || case when v_prioritised then $q$
                           || case when e.priority is null then '{}'
                                   else jsonb_build_object('priority', e.priority) end$q$
                         else '' end || $q$ as message$q$ || v_plan.columns || $q$
                  from ids e
                 where not e.duplicate)$q$;
        v_rows := 'ids i left join src e using (n)';
    else
        -- What is the same for all is no column of what is kept: it stands in src, which is no table.
        v_src := $q$
            plain as materialized (
                select e.n, e.event_type, e.payload, e.event_id, e.event_uid, e.principal,
                       to_jsonb(row($2, e.event_type, e.payload, $15, null, e.event_id, e.event_uid)
                                ::core_private.plain_message) as message$q$ || v_plan.columns || $q$
                  from (select x.*, null::timestamptz as due_at, null::bigint as held_id
                          from (select t.n, t.event_type, t.payload, nextval('core.event_id_seq') as event_id,
                                       coalesce(t.given_uid, gen_random_uuid()) as event_uid,
                                       coalesce(t.principal, $8) as principal
                                  from unnest($3, $4, $9, $10)
                                       with ordinality t(event_type, payload, given_uid, principal, n)
                                offset 0) x) e),
            src as not materialized (
                select p.*, false as duplicate, null::text as ordering_key, null::timestamptz as due_at,
                       null::jsonb as headers, null::text as producer, null::text as correlation_id,
                       null::uuid as causation_uid, null::timestamptz as authored_at, null::text[] as tags,
                       0 as depth, null::bigint as held_id
                  from plain p)$q$;
        v_rows := 'src i cross join lateral (select i.*) e';
    end if;
    v_statement := format($q$
        with %1$s
        %2$s,
        log as (
            insert into core.event_log (
                event_id, namespace, event_type, payload, emitted_at, producer_node_id, metadata, event_uid,
                authored_at, correlation_id, causation_uid, depth, ordering_key, tags, headers, principal,
                deliver_at, consumer_generation, trigger_generation%5$s)
            select e.event_id, $2, e.event_type, e.payload, $1, e.producer,
                   case when coalesce(%3$s, e.held_id) is null then '{}'::jsonb
                        else jsonb_build_object('messageId', coalesce(%3$s, e.held_id)) end,
                   e.event_uid, e.authored_at, e.correlation_id, e.causation_uid, e.depth, e.ordering_key, e.tags,
                   e.headers, e.principal, e.due_at, $13, nullif(%7$s, 0)%6$s
              from src e)
        select i.event_id, i.event_uid, %3$s, i.duplicate
          from %4$s
         order by i.n
        $q$, v_src, v_fire || v_plan.ctes || v_broadcast, v_plan.default_id, v_rows,
        case when v_prioritised then ', priority' end, case when v_prioritised then ', e.priority' end, v_met);
    if v_sync then
        for event_id, event_uid, message_id, duplicate in execute v_statement
            using p_now, p_namespace, p_event_types, p_payloads, p_options, v_keys, p_now + v_dedupe_for,
                  core_private.principal(), p_event_uids, p_principals, v_pending, v_queued, v_plan.generation,
                  v_priorities, core_private.iso(p_now)
        loop
            if not duplicate then
                v_ids := v_ids || event_id;
            end if;
            return next;
        end loop;
    else
        return query execute v_statement
            using p_now, p_namespace, p_event_types, p_payloads, p_options, v_keys, p_now + v_dedupe_for,
                  core_private.principal(), p_event_uids, p_principals, v_pending, v_queued, v_plan.generation,
                  v_priorities, core_private.iso(p_now);
    end if;
    if v_fire <> '' then
        perform set_config('enable_nestloop', v_loops, true);
    end if;
    -- Behind the queues, as in store_broadcast.
    if v_broadcast <> '' then
        perform core_private.keep_namespace(p_namespace);
    end if;
    if v_ids <> '{}' then
        perform core_private.run_sync_triggers(p_namespace, v_ids, p_now);
    end if;
end $$;
comment on function core_private.emit_many(text, text[], jsonb[], jsonb[], timestamptz, uuid[], text[]) is 'Writes events whose arguments have been checked: log, queues, delays. The last two arguments are for events that were accepted earlier: their uids, and who had them emitted. Raises 42501, NX004, NX005, NX015, NX101, NX110, NX215, NX604, and what triggers that are sync raise.';
