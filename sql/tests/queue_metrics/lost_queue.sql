-- A queue that has lost its table is shown as such, not left out.
-- holds: NS1-lost-queues
update nexus_test.clock set frozen = clock_timestamp();
select core.create_namespace('shop'), core.create_namespace('other');
select core.emit('shop', 'x'), core.emit('shop', 'x', '1', '{"delay": "1 h"}');
insert into core.parked (queue_name, event_type, msg_id, namespace, event_id, read_ct, enqueued_at, message, parked_at, lived)
select 'core_events_shop', 'p', g, 'shop', null, 1, core.now(), '{"eventType": "p"}', core.now(), '0' from generate_series(101, 102) g;
drop table pgmq.q_core_events_shop, pgmq.q_core_events_shop_dlq;
select results_eq($$select queue_name, queue_length, newest_msg_age_seconds, oldest_msg_age_seconds, visible, in_flight, waiting, delayed, parked, length_is_estimate from core.queue_metrics order by queue_name$$,
  $$values ('core_events_other', 0::bigint, null::int, null::int, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, false), ('core_events_other_dlq', 0, null, null, 0, 0, 0, 0, 0, false),
           ('core_events_shop', null, null, null, null, null, null, 1, 2, null), ('core_events_shop_dlq', null, null, null, null, null, null, 0, 0, null)$$, 'no numbers but of what is kept elsewhere');
select is(core_node.metrics_sample('shop') -> 'queues', '[{"consumer": "default", "lost": true, "delayed": 1, "parked": 2}]', 'the sample marks it');
select is(core_node.metrics_sample('shop') -> 'lost_queues', '2', 'and counts the dead-letter queue as well');
select is(core_node.metrics_sample('other') -> 'lost_queues', '0', 'of one namespace');
select results_eq('select * from core.lost_queues order by queue_name', $$values ('shop', 'core_events_shop', '{queue}'::text[]), ('shop', 'core_events_shop_dlq', '{queue}')$$, 'there is a list of them');
