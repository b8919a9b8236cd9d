-- One statement removes the messages and writes ledger, history and the copies on the dead-letter queue. The ids of
-- dead letters and of copies follow the order of the messages, so that "oldest first" holds. What a trigger delivered
-- is known by trigger and event, wherever it waited.
create or replace function core_private.bury(
    p_queue text, p_node text, p_ids bigint[], p_cts integer[], p_reasons text[], p_errors text[])
returns table (msg_id bigint, read_ct integer)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := core_private.now();
    v_owner record;
begin
    select q.namespace, c.name as consumer, c.routed, c.gives_up,
           core.dead_letter_queue_name_for_namespace(q.namespace) as dlq
      into v_owner
      from core.queues q
      join core.consumers c on c.consumer_id = q.consumer_id
     where q.queue_name = p_queue;
    if to_regclass(core_private.queue_relation(v_owner.dlq)) is null then
        perform core_private.fail_lost_queue(v_owner.dlq);
    end if;
    if v_owner.gives_up = 'answer' then
        return query select g.msg_id, g.read_ct from core_private.give_up_requests(p_queue, p_ids, p_cts, p_reasons) g;
    end if;
    if v_owner.routed then
        return query
            select g.msg_id, g.read_ct
              from core_private.give_up_handling(
                       p_queue, v_owner.namespace, p_ids, p_cts, p_reasons, p_errors) g;
    end if;
    return query execute format($q$
        with gone as (
            delete from %1$s q
             using unnest($2, $3, $4, $5) u(id, ct, reason, error)
             where q.msg_id = u.id and q.read_ct = u.ct
            returning q.msg_id, q.read_ct, q.message, q.headers, q.last_read_at, q.enqueued_at,
                      u.reason, core_private.clean_text(u.error) as error),
        known as materialized (
            select g.*,
                   case when $10 and e.envelope and core_private.uuid_if_valid(g.message ->> 'eventUid') is not null
                        then core_private.uuid_if_valid(g.message ->> 'triggerId') end as trigger_id,
                   nextval(%3$L::regclass) as dlq_msg_id, e.envelope,
                   coalesce(core_private.own_type_of(g.message), 'unknown.raw') as event_type,
                   case when e.envelope then core_private.uuid_if_valid(g.message ->> 'eventUid') end as event_uid,
                   case when e.envelope and g.message ->> 'eventId' ~ '^[0-9]{1,18}$'
                        then (g.message ->> 'eventId')::bigint end as event_id,
                   core_private.attempt_of(g.read_ct, g.headers) as attempts,
                   coalesce(to_timestamp(core_private.header_number(g.headers, 'nexus-first-at') / 1000000.0),
                            g.last_read_at) as first_at,
                   core_private.header_number(g.headers, 'nexus-replay-of') as replay_of,
                   least(coalesce(core_private.header_number(g.headers, 'nexus-round'), 0), 1000000)::integer
                       as replays,
                   (select nullif(jsonb_object_agg(h.key, h.value), '{}')
                      from jsonb_each(core_private.headers_object(g.headers)) h
                     where h.key not like 'nexus-%%') as user_headers
              from (select * from gone order by msg_id) g
             cross join lateral (select core_private.event_type_of(g.message) is not null as envelope) e),
        dead as materialized (
            select case when k.trigger_id is null then 'delivery' else 'trigger' end as source_kind,
                   $6 as namespace, $7 as consumer, k.event_type,
                   case when k.trigger_id is not null
                        then jsonb_build_object('triggerId', k.trigger_id, 'eventUid', k.event_uid)
                        when k.event_uid is null then jsonb_build_object('queue', $1, 'msgId', k.msg_id)
                        else jsonb_build_object('queue', $1, 'eventUid', k.event_uid) end as source_ref,
                   $1 as queue_name, k.msg_id, k.dlq_msg_id, k.event_id, k.event_uid,
                   case when k.envelope then coalesce(k.message -> 'payload', 'null')
                        else coalesce(k.message, 'null') end as payload,
                   case when k.envelope then k.message - 'payload' end as envelope,
                   k.user_headers as headers,
                   k.attempts, k.first_at as first_attempt_at, k.last_read_at as last_attempt_at, $8 as failed_at,
                   k.reason, coalesce(k.error, k.reason) as last_error,
                   case when k.envelope then k.message ->> 'orderingKey' end as ordering_key,
                   k.replay_of, k.replays as replay_count, $9 as node_id, k.msg_id as position,
                   null::bytea as body, null::text as body_type, null::integer as lane, null::bigint as lane_seq
              from known k),
        copy as (
            insert into %2$s (msg_id, vt, message, headers) overriding system value
            select k.dlq_msg_id, $8,
                   jsonb_build_object('originalEvent', k.message, 'reason', k.reason,
                                      'failedAt', core_private.iso($8), 'error', coalesce(k.error, k.reason)),
                   k.user_headers
              from known k),
        %4$s
        select g.msg_id, g.read_ct
          from gone g
        $q$, core_private.queue_relation(p_queue),
             core_private.queue_relation(v_owner.dlq),
             core_private.queue_sequence(v_owner.dlq),
             core_private.ledger_plan())
    using p_queue, p_ids, p_cts, p_reasons, p_errors, v_owner.namespace, v_owner.consumer, v_now, p_node,
          v_owner.routed;
end $$;
comment on function core_private.bury(text, text, bigint[], integer[], text[], text[]) is 'Moves messages whose fence (msg_id, read_ct) holds to the dead letters; returns those it moved. Raises NX110.';
