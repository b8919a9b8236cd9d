-- Puts dead deliveries of one call back, under a new message id and with fresh attempts; event id, headers and ordering
-- key stay, and headers tell the round. Rows must be locked by the caller. With a gap they become due one after
-- another, in the order of their ids: what is not due at once waits in core.delayed, so that the head of the queue
-- stays short.
--
-- What a trigger had delivered goes to the target, and by the consumer, that the trigger has now.
create or replace function core_private.redeliver(
    p_ids bigint[], p_payload jsonb, p_first_at timestamptz = null, p_gap interval = null)
returns table (dead_letter_id bigint, msg_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
    v_by  text := core_private.principal();
    r     record;
begin
    for r in
        with numbered as (
            select l.dead_letter_id, c.queue_name, q.queue_name as dlq,
                   greatest(coalesce(p_first_at, v_now)
                                + coalesce(p_gap, '0') * (row_number() over (order by l.dead_letter_id) - 1),
                            v_now) as due_at
              from core.dead_letters l
              left join core.triggers t
                on t.trigger_id = core_private.uuid_if_valid(l.source_ref ->> 'triggerId') and t.namespace = l.namespace
               and t.mode = 'async' and l.source_kind = 'trigger'
              join core.consumers c
                on c.namespace = l.namespace and c.name = coalesce(t.consumer, l.consumer) and c.kind = 'unordered'
              left join core.queues q on q.namespace = l.namespace and q.consumer_id is null and q.dropped_at is null
             where l.dead_letter_id = any (p_ids) and l.resolved_at is null
               and (l.source_kind = 'delivery' or t.trigger_id is not null)
               and to_regclass(core_private.queue_relation(c.queue_name)) is not null)
        select n.queue_name, n.dlq,
               array_agg(n.dead_letter_id order by n.dead_letter_id) as ids,
               array_agg(n.due_at order by n.dead_letter_id) as dues
          from numbered n
         group by n.queue_name, n.dlq
         order by n.queue_name
    loop
        return query execute format($q$
            with back as materialized (
                select l.dead_letter_id, l.dlq_msg_id,
                       case when u.due_at <= $2 then %2$s end as msg_id, u.due_at,
                       coalesce(t.target, l.event_type, 'unknown.raw') as event_type,
                       case when l.envelope is null then coalesce($3, l.payload)
                            else l.envelope || jsonb_build_object('payload', coalesce($3, l.payload))
                                 || jsonb_strip_nulls(jsonb_build_object('eventType', t.target, 'trigger', t.name))
                            end as message,
                       coalesce(l.headers, '{}') || jsonb_strip_nulls(jsonb_build_object(
                           'nexus-replay-of', l.dead_letter_id, 'nexus-round', l.replay_count + 1,
                           'nexus-retry', core_private.trigger_policy(
                               core_private.uuid_if_valid(l.envelope ->> 'triggerId')))) as headers
                  from unnest($1, $5) u(id, due_at)
                  join core.dead_letters l on l.dead_letter_id = u.id
                  left join core.triggers t
                    on t.trigger_id = core_private.uuid_if_valid(l.source_ref ->> 'triggerId')
                   and l.source_kind = 'trigger'),
            sent as (
                insert into %1$s (msg_id, enqueued_at, vt, message, headers) overriding system value
                select b.msg_id, $2, $2, b.message, b.headers
                  from back b
                 where b.msg_id is not null
                 order by b.msg_id),
            later as (
                insert into core.delayed (due_at, queue_name, event_type, message, headers)
                select b.due_at, $6, b.event_type, b.message, b.headers
                  from back b
                 where b.msg_id is null
                 order by b.due_at),
            ledger as (
                update core.dead_letters l
                   set status = 'resolved', resolution = 'replayed',
                       resolved_at = $2, resolved_by = $4, replay_msg_id = b.msg_id,
                       claim_token = null, deadline = null, claimed_by = null
                  from back b
                 where l.dead_letter_id = b.dead_letter_id)
            select b.dead_letter_id, b.msg_id
              from back b
            $q$, core_private.queue_relation(r.queue_name), core_private.next_id_sql(r.queue_name, 'l.envelope'))
        using r.ids, v_now, p_payload, v_by, r.dues, r.queue_name;
        perform core_private.remove_copies(r.dlq, array(
            select l.dlq_msg_id
              from core.dead_letters l
             where l.dead_letter_id = any (r.ids)));
        perform core_private.wake(r.queue_name, v_now);
    end loop;
end $$;
comment on function core_private.redeliver(bigint[], jsonb, timestamptz, interval) is 'Replays unresolved dead deliveries, those of triggers too; returns those it put back with their new message ids, NULL for those due later. Those whose consumer, queue or trigger is gone are left.';
