-- What has no options is written by core_private.emit_plain, as the statement of core_private.emit_many would.
-- holds: E1, C1
select core.create_namespace('shop');
select core.create_consumer('shop', 'all', '{*}'), core.create_consumer('shop', 'bills', '{bill.*,refund}');
update core.namespaces set trigger_generation = 7 where namespace = 'shop';
create temporary table r as
  select * from core.emit_batch('shop', array['order', 'bill.sent', 'refund', 'order'], '{1,2,3,4}') with ordinality;
select results_eq(
  $$select r.ordinality::int, l.event_type, l.payload::text, r.message_id, r.duplicate from r join core.event_log l using (event_id, event_uid) order by 1$$,
  $$values (1, 'order', '1', 1::bigint, false), (2, 'bill.sent', '2', 2, false), (3, 'refund', '3', 3, false), (4, 'order', '4', 4, false)$$, 'rows in input order');
select is((select count(*)::int from r join core.event_log l using (event_id)
            where (l.metadata ->> 'messageId')::bigint = r.message_id and l.trigger_generation = 7 and l.depth = 0 and l.principal = core_private.principal()
              and l.consumer_generation = (select consumer_generation from core.namespaces where namespace = 'shop')), 4, 'the log knows the messages, and which consumers and triggers it met');
select results_eq($$select q.msg_id, q.message ->> 'eventType', (q.message ->> 'eventUid')::uuid from pgmq.q_core_events_shop q order by 1$$,
                  $$select r.message_id, l.event_type, r.event_uid from r join core.event_log l using (event_id) order by 1$$, 'the queue of the default consumer');
select is((select array_agg((q.message -> 'payload')::int order by q.msg_id) from pgmq.q_core_events_shop__all q), '{1,2,3,4}', 'who takes all');
select is((select array_agg((q.message -> 'payload')::int order by q.msg_id) from pgmq.q_core_events_shop__bills q), '{2,3}', 'who takes some');
select core.emit_batch('shop', '{bill.paid,bill.sent}', '{5,6}');
select is((select array_agg((message -> 'payload')::int order by msg_id) from pgmq.q_core_events_shop__bills), '{2,3,5,6}', 'several types for one');
select core.emit_batch('shop', '{bill.paid}', '{7}');
select is((select array_agg((message -> 'payload')::int order by msg_id) from pgmq.q_core_events_shop__bills), '{2,3,5,6,7}', 'one type');
update core.namespaces set default_consumer = false where namespace = 'shop';
select is((select array_agg(message_id) from core.emit_batch('shop', '{a,b}', '{8,9}')), '{null,null}', 'without the default consumer there is no message id');
select is((select array_agg(metadata) from core.event_log where event_type in ('a', 'b')), '{"{}","{}"}'::jsonb[], 'nor in the log');
select core.create_consumer('shop', 'moves', '{move}', '{"kind": "ordered"}');
select is((select count(*)::int from core_private.emit_plain('shop', '{move,order}', '{1,2}', now(), '{move,order}', 7)), 0, 'an ordered consumer that came meanwhile');
select is((select count(*)::int from core.event_log where event_type = 'move'), 0, 'and nothing is written');
select is((select count(*)::int from core.emit_batch('shop', '{move,order}', '{1,2}')), 2, 'the caller writes it another way');
select is((select count(*)::int from core_private.lane_messages), 1, 'to the lane');
