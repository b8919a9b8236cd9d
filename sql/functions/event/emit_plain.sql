-- By statements that are planned once, and a short one for each queue: the one statement that
-- core_private.emit_many puts together takes as long to plan as twenty events take to be written.
-- Queues come before the log, as there.
create or replace function core_private.emit_plain(
    p_namespace text, p_event_types text[], p_payloads jsonb[], p_now timestamptz, p_types text[], p_met bigint)
returns table (event_id bigint, event_uid uuid, message_id bigint, duplicate boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    v_principal  text := core_private.principal();
    v_time       text := core_private.iso(p_now);
    v_consumer   record;
    v_generation bigint;
    v_ids        bigint[];
    v_uids       uuid[];
    v_messages   jsonb[];
    v_default    bigint[]; -- message ids on the default queue
begin
    select array_agg(x.event_id), array_agg(x.event_uid),
           array_agg(to_jsonb(row(p_namespace, x.event_type, x.payload, v_time, null, x.event_id, x.event_uid)
                              ::core_private.plain_message))
      into v_ids, v_uids, v_messages
      from (select u.event_type, u.payload, nextval('core.event_id_seq') as event_id,
                   gen_random_uuid() as event_uid
              from unnest(p_event_types, p_payloads) u(event_type, payload) offset 0) x;
    for v_consumer in
        select nullif(n.consumer_generation, 0) as generation, c.name, c.queue_name, c.patterns,
               bool_or(c.kind <> 'unordered') over () as others,
               to_regclass(core_private.queue_sequence(c.queue_name)) as ids,
               exists (select from core_private.wake_flags f
                        where f.key = c.queue_name and f.waiting_until > p_now) as wakes
          from core.namespaces n
          left join lateral core_private.consumers_of(p_namespace, p_types) c on true
         where n.namespace = p_namespace
         order by c.consumer_id
    loop
        v_generation := v_consumer.generation;
        continue when v_consumer.name is null;
        if v_consumer.others then
            return; -- created since the caller looked; nothing is written yet
        end if;
        if v_consumer.ids is null then
            perform core_private.fail_lost_queue(v_consumer.queue_name);
        end if;
        if v_consumer.name = 'default' then
            v_default := array(select nextval(v_consumer.ids) from generate_series(1, cardinality(v_ids)));
            execute format($q$
                insert into %s (msg_id, read_ct, enqueued_at, vt, message) overriding system value
                select u.id, 0, $1, $1, u.message from unnest($2, $3) u(id, message)$q$,
                core_private.queue_relation(v_consumer.queue_name))
              using p_now, v_default, v_messages;
        else
            execute format($q$
                insert into %s (msg_id, read_ct, enqueued_at, vt, message) overriding system value
                select nextval($2), 0, $1, $1, u.message from unnest($3, $4) u(event_type, message)%s$q$,
                core_private.queue_relation(v_consumer.queue_name),
                case when cardinality(p_types) > 1 and '*' <> all (v_consumer.patterns) then
                     ' where exists (select from unnest($5) p where core_private.matches(p, u.event_type))' end)
              using p_now, v_consumer.ids, p_event_types, v_messages, v_consumer.patterns;
        end if;
        if v_consumer.wakes then
            perform core_private.wake(v_consumer.queue_name, p_now);
        end if;
    end loop;
    insert into core.event_log (
        event_id, namespace, event_type, payload, emitted_at, metadata, event_uid, depth, principal,
        consumer_generation, trigger_generation)
    select u.event_id, p_namespace, u.event_type, u.payload, p_now,
           case when u.message_id is null then '{}' else jsonb_build_object('messageId', u.message_id) end,
           u.event_uid, 0, v_principal, v_generation, nullif(p_met, 0)
      from unnest(v_ids, v_uids, p_event_types, p_payloads, v_default)
           u(event_id, event_uid, event_type, payload, message_id);
    return query
        select u.event_id, u.event_uid, u.message_id, false from unnest(v_ids, v_uids, v_default)
               u(event_id, event_uid, message_id);
end $$;
comment on function core_private.emit_plain(text, text[], jsonb[], timestamptz, text[], bigint) is 'Writes events without options, in a namespace without triggers: log and queues; nothing, and returns no row, if another kind of consumer than unordered gets one of them. p_types has each type once, p_met is the generation of the triggers. Raises NX110.';
