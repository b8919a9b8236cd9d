-- The last id is looked at before the transaction has an id of its own: see core_private.claim_heads.
create or replace function core_node.claim_ordered(
    p_namespace text, p_consumer text, p_node text, p_types text[], p_max_attempts integer[], p_limit integer,
    p_lease interval, p_token uuid = null)
returns table (
    outcome text, lane_id integer, lane integer, token uuid, seq bigint, message_id bigint, message text, headers jsonb,
    attempt integer, due_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_consumer core.consumers;
    v_floor    bigint;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    v_consumer := core_private.ordered_named(p_namespace, p_consumer);
    perform core_private.check_claim(p_consumer, v_consumer.consumer_id, p_types, p_max_attempts, p_limit, 1);
    perform core_private.check_lease(p_lease);
    perform core_private.require_read_committed('core_node.claim_ordered');
    perform core_private.require_first('core_node.claim_ordered');
    v_floor := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    return query
        select h.outcome, h.lane_id, h.lane, h.token, h.seq, h.message_id, h.message, h.headers, h.attempt, h.due_at
          from core_private.claim_heads(
                   v_consumer, p_node, p_types, p_max_attempts, p_limit, p_lease, v_floor, p_token => p_token) h;
end $$;
comment on function core_node.claim_ordered(text, text, text, text[], integer[], integer, interval, uuid) is 'For nodes: takes up to p_limit lanes of an ordered consumer, each with its next event, which is the node''s for p_lease: a row each, claimed, with what settles it (lane_id, token, seq, message_id). Of an event whose types p_types do not match the lane is left. p_max_attempts has a number for each of these: 0 for the consumer''s, -1 for never. Also a row for each event that was given up since the node that had it died (buried), and one if there may be more (more). p_token is the token that all of them get, by which core_node.give_back_lanes gives them back if the answer was lost; NULL: each has one of its own. Must be the first to write in its transaction. Raises 55000, NX006, NX101, NX103, NX224, NX401, NX402, NX509.';
