-- D7: in default, what another consumer had is removed and counted
-- holds: D7-given-up
select core.create_namespace('shop', '{"unhandled_after": "1 s"}');
select core.emit('shop', 'mail.sent', '1');
select core.emit('shop', 'mail.sent', '2', '{"delay": "1 s"}');
update nexus_test.clock set shift = '2 s';
insert into core.consumers (namespace, name, patterns, queue_name, created_at) values ('shop', 'mailer', '{mail.*}', 'core_events_shop__mailer', core.now());
insert into core.queues (queue_name, namespace, consumer_id) select queue_name, namespace, consumer_id from core.consumers where name = 'mailer';
set local role nexus_owner;
select core_private.create_queue('core_events_shop__mailer');
reset role;
select core_node.promote_delayed();
select core.emit_batch('shop', '{mail.sent,other}', '{3,4}');
select core_node.register_node('shop', 'n', true, '{a,b}', '{}', '{default,mailer}');
select is(core_private.park_unhandled(), '{"buried": 0, "parked": 5, "removed": 0, "unparked": 0}', 'each consumer for itself');
select is((select string_agg(queue_name || ' ' || event_type || ' ' || n, ', ' order by queue_name, event_type) from (select queue_name, event_type, count(*) as n from core.parked group by 1, 2) g),
  'core_events_shop mail.sent 3, core_events_shop other 1, core_events_shop__mailer mail.sent 1', 'on its own queue');
update nexus_test.clock set shift = '4 s';
select is(core_private.park_unhandled(), '{"buried": 4, "parked": 0, "removed": 1, "unparked": 0}', 'given up');
select is((select string_agg(consumer || ' ' || event_type || ' ' || payload, ', ' order by consumer, payload::text) from core.dead_letters),
  'default mail.sent 1, default mail.sent 2, default other 4, mailer mail.sent 3', 'all but what the other consumer had: not what was emitted before it was there');
select is((select removed from core_private.parking where queue_name = 'core_events_shop'), 1::bigint, 'which is counted');
select core.emit('shop', 'mail.sent', '5');
select core_private.park_unhandled();
select core_node.register_node('shop', 'm', true, '{mail.*}', '{}', '{mailer}');
select is((select string_agg(queue_name, ',') from core.parked), 'core_events_shop', 'a node of one consumer handles nothing of another');
