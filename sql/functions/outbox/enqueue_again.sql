-- Rows must be locked by the caller. They come at the end of the lane, in their order: those behind them have gone on.
-- There are no later times in a lane, so a rate is not kept.
create or replace function core_private.enqueue_again(
    p_ids bigint[], p_payload jsonb, p_first_at timestamptz = null, p_gap interval = null)
returns table (dead_letter_id bigint, msg_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
    r     record;
begin
    perform pg_current_xact_id();
    for r in
        select l.namespace, l.consumer, array_agg(l.dead_letter_id order by l.dead_letter_id) as ids
          from core.dead_letters l
         where l.dead_letter_id = any (p_ids) and l.source_kind = 'lane' and l.resolved_at is null
         group by l.namespace, l.consumer
         order by l.namespace, l.consumer
    loop
        return query
            with back as materialized (
                select d.*, nextval('core_private.lane_message_id_seq') as new_id
                  from (select l.dead_letter_id, l.ordering_key, c.lane_id,
                               coalesce(l.body_type, l.event_type) as body_type,
                               case when k.kind = 'ordered'
                                    then convert_to(
                                        (l.envelope || jsonb_build_object(
                                            'payload', coalesce(p_payload, l.payload)))::text, 'UTF8')
                                    when p_payload is null then l.body
                                    else convert_to(p_payload::text, 'UTF8') end as body,
                               case when k.kind = 'ordered'
                                    then coalesce(l.headers, '{}') || jsonb_build_object(
                                        'nexus-replay-of', l.dead_letter_id, 'nexus-round', l.replay_count + 1)
                                    else jsonb_build_object( -- for outbox_replay
                                        'nexus-copy-of', coalesce((l.source_ref ->> 'copyOf')::bigint, l.msg_id))
                                    end as headers
                          from core.dead_letters l
                          join core.consumers k on k.namespace = l.namespace and k.name = l.consumer
                          join core_private.consumer_lanes c
                            on k.kind = case when l.body is null then 'ordered' else 'outbox' end
                           and c.consumer_id = k.consumer_id and c.generation = k.generation
                           and c.lane = coalesce(
                               core_private.lane_of_key(l.ordering_key, k.lanes),
                               l.lane % k.lanes, 0)
                         where l.dead_letter_id = any (r.ids)
                         order by l.dead_letter_id) d),
            sent as (
                insert into core_private.lane_messages (lane_id, id, xid, key, body, body_type, headers, created_at)
                select b.lane_id, b.new_id, pg_current_xact_id(), b.ordering_key, b.body, b.body_type, b.headers,
                       v_now
                  from back b
                 order by b.new_id)
            update core.dead_letters l
               set status = 'resolved', resolution = 'replayed',
                   resolved_at = v_now, resolved_by = core_private.principal(), replay_msg_id = b.new_id,
                   claim_token = null, deadline = null, claimed_by = null
              from back b
             where l.dead_letter_id = b.dead_letter_id
            returning l.dead_letter_id, b.new_id;
        perform core_private.wake(core_private.outbox_key(r.namespace, r.consumer), v_now);
    end loop;
end $$;
comment on function core_private.enqueue_again(bigint[], jsonb, timestamptz, interval) is 'Puts dead messages of lanes at the end of the lanes of their keys; returns those it could.';
