-- Raises where there is no message: what a lane holds is there until its partition is dropped, and that waits for it.
create or replace function core_private.bury_head(
    p_lane core_private.lanes, p_owner core_private.lane_owner, p_reason text, p_error text, p_node text)
returns core_private.lanes
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_row   core_private.lane_messages;
    v_event jsonb; -- of an ordered consumer; NULL: the message is bytes of an outbox queue
begin
    select m.*
      into v_row
      from core_private.read_lane(p_lane, 1) r
      join core_private.lane_messages m on m.lane_id = p_lane.lane_id and m.id = r.id;
    if not found then
        raise exception using errcode = 'XX000', message = format('lane %s has no next message', p_lane.lane_id);
    end if;
    if p_owner.events then
        v_event := convert_from(v_row.body, 'UTF8')::jsonb;
    end if;
    execute format($q$
        with dead as materialized (
            select 'lane' as source_kind, $1 as namespace, $2 as consumer,
                   case when $16 is not null then $12 end as event_type,
                   jsonb_strip_nulls(jsonb_build_object(
                       'queue', $2, 'messageId', $3,
                       'copyOf', core_private.header_number($17, 'nexus-copy-of'))) as source_ref, $15 as queue_name,
                   $3 as msg_id, null::bigint as dlq_msg_id,
                   ($16 ->> 'eventId')::bigint as event_id, ($16 ->> 'eventUid')::uuid as event_uid,
                   case when $16 is not null then coalesce($16 -> 'payload', 'null') end as payload,
                   $16 - 'payload' as envelope,
                   (select nullif(jsonb_object_agg(h.key, h.value), '{}')
                      from jsonb_each($17) h
                     where h.key not like 'nexus-%%') as headers,
                   $4 as attempts, $5 as first_attempt_at, $6 as last_attempt_at, $6 as failed_at,
                   $7 as reason, $8 as last_error, $9 as ordering_key,
                   core_private.header_number($17, 'nexus-replay-of') as replay_of,
                   coalesce(core_private.header_number($17, 'nexus-round'), 0)::integer as replay_count,
                   $10 as node_id, 1 as position,
                   case when $16 is null then $11 end as body, case when $16 is null then $12 end as body_type,
                   $13 as lane, $14 as lane_seq),
        %s
        select l.dead_letter_id
          from ledger l
        $q$, core_private.ledger_plan())
    using p_owner.namespace, p_owner.queue_name, v_row.id, p_lane.attempts, coalesce(p_lane.blocked_since, v_now),
          v_now, p_reason, core_private.clean_text(coalesce(p_error, p_reason)), v_row.key, p_node, v_row.body,
          v_row.body_type, p_owner.lane, p_lane.seq + 1,
          core_private.outbox_key(p_owner.namespace, p_owner.queue_name), v_event, v_row.headers;
    p_lane.handed := 1;
    return core_private.ack_lane(p_lane, 1, v_row.id);
end $$;
comment on function core_private.bury_head(core_private.lanes, core_private.lane_owner, text, text, text) is 'Makes a dead letter of the next message of a lane, which the caller has locked; the lane behind it.';
