-- P1: core.queue_metrics
-- holds: P1, P3
select core.create_namespace('shop');
select columns_are('core', 'queue_metrics', array['queue_name', 'queue_length', 'newest_msg_age_seconds', 'oldest_msg_age_seconds', 'visible', 'in_flight', 'waiting', 'delayed', 'parked', 'length_is_estimate', 'namespace']);
select is((select (queue_length, newest_msg_age_seconds, oldest_msg_age_seconds, length_is_estimate)::text from core.queue_metrics where queue_name = 'core_events_shop'), '(0,,,f)', 'an empty queue has no ages');
select core.emit_batch('shop', '{a,a,b,c}', '{1,2,3,4}');
select core.emit('shop', 'd', '5', '{"delay": "1 h"}');
select core_node.claim('core_events_shop', '{a}', '{0}', 1, '10 min');
select core_node.claim('core_events_shop', '{b}', '{0}', 10, '10 min');
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{3}', '{1}', pg_temp.ats('{3}'), '{retry}', '{1 h}', '{null}', '{x}', '{x}'));
select is((select (queue_length, visible, in_flight, waiting, delayed, parked, length_is_estimate)::text from core.queue_metrics where queue_name = 'core_events_shop'), '(4,2,1,1,1,0,f)', 'each message is counted once, by its state');
update pgmq.q_core_events_shop set enqueued_at = core.now() - make_interval(secs => 10 * msg_id);
select is((select (newest_msg_age_seconds, oldest_msg_age_seconds)::text from core.queue_metrics where queue_name = 'core_events_shop'), '(40,10)', 'newest and oldest go by message id');
select is((select queue_length from core.queue_metrics where queue_name = 'core_events_shop_dlq'), 0::bigint, 'dead-letter queues have a row too');
select core.create_namespace('other');
select is((select delayed from core.queue_metrics where queue_name = 'core_events_other'), 0::bigint, 'what waits for another queue is not counted');
-- P3: no unbounded count
insert into pgmq.q_core_events_shop (vt, message) select core.now(), '{}' from generate_series(1, 11000);
analyze pgmq.q_core_events_shop;
select is((select (queue_length between 10000 and 12100, length_is_estimate)::text from core.queue_metrics where queue_name = 'core_events_shop'), '(t,t)', 'beyond 10,000 it estimates, and says so');
