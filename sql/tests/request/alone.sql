-- R1: a request goes to its handler alone, also when the log is delivered again
-- holds: R1 (to nobody else)
select core.create_namespace('shop');
select core.create_consumer('shop', 'all', '{*}'), core.create_consumer('shop', 'prices', '{price,go:*}');
select core_node.require_routed('shop', 'requests');
select core_node.register_node('shop', 'n1', true, '{go:price}', '{}', '{requests}');
select core.request('shop', 'price', '1');
select core.emit('shop', 'other', '2');
select is((select count(*)::int from pgmq.q_core_events_shop__requests), 1, 'for the handler');
select is((select string_agg(message ->> 'eventType', ' ') from pgmq.q_core_events_shop__all), 'other', 'not for consumers');
select is((select count(*)::int from pgmq.q_core_events_shop__prices), 0, 'whatever their patterns');
select is((select string_agg(message ->> 'eventType', ' ') from pgmq.q_core_events_shop), 'other', 'nor for the consumer default');
select core.create_consumer('shop', 'later', '{*}', '{"from": "beginning"}');
update core_private.backfills set awaited = '{}', state = 'running', bound = (select last_value from core.event_id_seq);
select core_private.run_backfills();
select is((select string_agg(message ->> 'eventType', ' ') from pgmq.q_core_events_shop__later), 'other', 'nor for one that begins with the log');
select is((select delivered from core.replay_events('shop', 'all', '{"type": "*"}', '{"replay_id": "r"}')), 1::bigint, 'nor is it replayed');
select is((select count(*)::int from core.event_status((select event_id from core.event_log where event_type = 'price'))), 0, 'its fate is not that of an event');
select is((select count(*)::int from core.event_status((select event_id from core.event_log where event_type = 'other')) s where s.consumer = 'all'), 1, 'which have one for each consumer');
