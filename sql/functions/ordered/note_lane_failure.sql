create or replace function core_private.note_lane_failure(
    p_lane core_private.lanes, p_owner core_private.lane_owner, p_message core_private.lane_messages, p_reason text,
    p_node text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_event jsonb := convert_from(p_message.body, 'UTF8')::jsonb;
begin
    insert into core.delivery_errors (
        namespace, consumer, queue_name, msg_id, event_id, event_uid, event_type,
        attempt, action, reason, error, node_id, failed_at, due_at)
    values (
        p_owner.namespace, p_owner.queue_name, core_private.outbox_key(p_owner.namespace, p_owner.queue_name),
        p_message.id, (v_event ->> 'eventId')::bigint, (v_event ->> 'eventUid')::uuid, p_message.body_type,
        p_lane.attempts, case p_lane.state when 'halted' then 'halt' else 'retry' end, p_reason, p_lane.last_error,
        left(p_node, 200), core_private.now(), case when p_lane.state <> 'halted' then p_lane.next_at end);
end $$;
comment on function core_private.note_lane_failure(core_private.lanes, core_private.lane_owner, core_private.lane_messages, text, text) is 'Notes a failed attempt of an event in a lane.';
