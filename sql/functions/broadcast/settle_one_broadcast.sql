-- What failed, or was given back, waits apart from the cursor, which goes on: one event that fails holds up none of the
-- others. p_delivery is as it stood before the attempt.
create or replace function core_private.settle_one_broadcast(
    p_delivery core_private.broadcast_deliveries, p_action text, p_after interval, p_policy jsonb, p_reason text,
    p_error text, p_began_at timestamptz, p_now timestamptz, out outcome text, out due_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_policy   jsonb;
    v_max      integer;
    v_consumer text := 'broadcast:' || p_delivery.node_id;
    v_queue    text := core_private.broadcast_key(p_delivery.namespace);
    v_failures integer := p_delivery.failures + (p_action <> 'release')::integer;
    v_first_at timestamptz := coalesce(p_delivery.first_at, p_began_at, p_now);
    v_bury     boolean := p_action = 'reject';
    v_error    text := core_private.clean_text(coalesce(nullif(p_error, ''), p_reason, ''));
    v_event_id bigint := (p_delivery.message ->> 'eventId')::bigint;
    v_uid      uuid := core_private.uuid_if_valid(p_delivery.message ->> 'eventUid');
begin
    if p_action = 'retry' then
        select n.retry || coalesce(p_policy, '{}')
          into v_policy
          from core.namespaces n
         where n.namespace = p_delivery.namespace;
        v_max := core_private.max_attempts('{}', v_policy);
        v_bury := v_max > 0 and v_failures >= v_max;
    end if;
    if not v_bury then
        due_at := p_now + coalesce(p_after, core_node.retry_delay(v_policy, v_failures));
        insert into core_private.broadcast_deliveries as d (
            node_id, broadcast_id, namespace, event_type, message,
            headers, due_at, failures, deferrals, first_at,
            replay_of, replay_count)
        values (
            p_delivery.node_id, p_delivery.broadcast_id, p_delivery.namespace, p_delivery.event_type,
            p_delivery.message,
            p_delivery.headers, due_at, v_failures, p_delivery.deferrals + (p_action = 'release')::integer, v_first_at,
            p_delivery.replay_of, p_delivery.replay_count)
        on conflict (node_id, broadcast_id) do update
           set due_at = excluded.due_at, failures = excluded.failures, deferrals = excluded.deferrals,
               first_at = excluded.first_at;
        if p_action = 'release' then
            outcome := 'released';
            return;
        end if;
        insert into core.delivery_errors (
            namespace, consumer, queue_name, msg_id, event_id, event_uid,
            event_type, attempt, action, reason, error, node_id, failed_at, due_at)
        values (
            p_delivery.namespace, v_consumer, v_queue, p_delivery.broadcast_id, v_event_id, v_uid,
            p_delivery.event_type, v_failures, 'retry', p_reason, v_error, p_delivery.node_id, p_now, due_at);
        outcome := 'retried';
    else
        execute format($q$
            with dead as (
                select 'broadcast' as source_kind, ($1).namespace, $2 as consumer, ($1).event_type,
                       jsonb_build_object('namespace', ($1).namespace, 'node', ($1).node_id,
                                          'broadcastId', ($1).broadcast_id, 'eventUid', $3) as source_ref,
                       $4 as queue_name, ($1).broadcast_id as msg_id, null::bigint as dlq_msg_id,
                       $5 as event_id, $3 as event_uid,
                       coalesce(($1).message -> 'payload', 'null') as payload, ($1).message - 'payload' as envelope,
                       ($1).headers, $6 as attempts, $7 as first_attempt_at, $8 as last_attempt_at,
                       $9 as failed_at, $10 as reason, $11 as last_error,
                       ($1).message ->> 'orderingKey' as ordering_key,
                       ($1).replay_of, ($1).replay_count, ($1).node_id as node_id, 1 as position,
                       null::bytea as body, null::text as body_type, null::integer as lane, null::bigint as lane_seq),
            %s
            select l.dead_letter_id
              from ledger l
            $q$, core_private.ledger_plan())
        using p_delivery, v_consumer, v_uid, v_queue, v_event_id, v_failures, v_first_at,
              coalesce(p_began_at, p_now), p_now,
              coalesce(nullif(p_reason, ''), case p_action when 'reject' then 'rejected' else 'attempts used up' end),
              v_error;
        delete from core_private.broadcast_deliveries d
         where d.node_id = p_delivery.node_id and d.broadcast_id = p_delivery.broadcast_id;
        outcome := 'buried';
    end if;
    update core_private.broadcast_cursors c
       set last_error = v_error, last_error_at = p_now
     where c.node_id = p_delivery.node_id;
end $$;
comment on function core_private.settle_one_broadcast(core_private.broadcast_deliveries, text, interval, jsonb, text, text, timestamptz, timestamptz) is 'Settles an attempt of a node at a broadcast that was no success: retry, reject or release; retried, buried or released, and when it is due again. Raises NX005, NX007.';
