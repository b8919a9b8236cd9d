-- The transaction has its id before the message draws one, on which the reading of lanes rests.
create or replace function core_private.deliver_to_lane(
    p_namespace text, p_consumer_id integer, p_event_type text, p_message jsonb, p_headers jsonb,
    p_due_at timestamptz, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_xid   xid8 := pg_current_xact_id();
    v_key   text := p_message ->> 'orderingKey';
    v_name  text;
    v_lanes integer[];
    v_lane  integer;
    v_id    bigint;
begin
    select c.name, q.lane_ids
      into v_name, v_lanes
      from core_private.outbox_queues q
      join core.consumers c on c.consumer_id = q.consumer_id
     where q.consumer_id = p_consumer_id;
    if not found then
        return; -- dropped meanwhile, before this event
    elsif p_due_at is not null then
        perform core_private.fail_delayed(v_name);
    end if;
    v_id := nextval('core_private.lane_message_id_seq');
    v_lane := core_private.lane_of(v_lanes, v_key, v_id);
    insert into core_private.lane_messages (lane_id, id, xid, key, body, body_type, headers, created_at)
    values (v_lane, v_id, v_xid, v_key, convert_to(p_message::text, 'UTF8'), p_event_type, p_headers, p_now);
    perform core_private.wake(core_private.outbox_key(p_namespace, v_name), p_now);
end $$;
comment on function core_private.deliver_to_lane(text, integer, text, jsonb, jsonb, timestamptz, timestamptz) is 'Delivers an event to an ordered consumer. Raises NX225.';
