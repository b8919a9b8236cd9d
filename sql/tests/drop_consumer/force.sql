-- C3: dropped with all it holds; leases are lost, nobody else notices
-- holds: C3
select core.create_namespace('shop');
select core.create_consumer('shop', 'mail', '{a.*}'), core.create_consumer('shop', 'other', '{a.*}');
select core.emit('shop', 'a.b'), core.emit('shop', 'a.b', '{}', '{"delay": "1 h"}');
create temp table lease as select * from core_node.claim('core_events_shop__mail', '{*}', '{0}', 1, '30 s') where outcome = 'claimed';
insert into core_private.parking (queue_name, seen_at) values ('core_events_shop__mail', now());
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived) values ('core_events_shop__mail', 'a.b', 77, 'shop', 0, now(), '{}', now(), '0');
select lives_ok($$select core.drop_consumer('shop', 'mail', true)$$, 'dropped');
select throws_ok(format('select core.ack(''shop'', ''mail'', %s, %s, %L)', msg_id, read_ct, last_read_at), 'NX102', null, 'no ack') from lease;
select throws_ok(format($$select core_node.settle('core_events_shop__mail', 'n', '{%s}', '{%s}', '{"%s"}', '[]')$$, msg_id, read_ct, last_read_at), 'NX103', null, 'nor a settlement') from lease;
select throws_ok($$select core_node.claim('core_events_shop__mail', '{*}', '{0}', 1, '30 s')$$, 'NX103', null, 'nor a claim');
select is((select count(*)::int from core.parked), 0, 'nothing is parked');
select is_empty($$select 1 from core.queue_metrics where queue_name like '%mail' union all select 1 from core.lost_queues$$, 'it is in no list');
select lives_ok($$select core.emit('shop', 'a.b')$$, 'emits go on');
select is((select count(*)::int from pgmq.q_core_events_shop__other), 2, 'others get them'), is((select count(*)::int from core.delayed where queue_name like '%other'), 1, 'and keep what is delayed');
-- A new one of its name in the transaction that has dropped it cannot have its queue.
select ok(core.create_consumer('shop', 'mail', '{a.*}'), 'made again');
select isnt((select queue_name from core.consumers where name = 'mail'), 'core_events_shop__mail', 'on a queue of its own');
select core.emit('shop', 'a.b');
select is(core_node.metrics_sample('shop') -> 'lost_queues', '0', 'no queue is lost');
-- As if an older transaction had dropped it.
select core.drop_consumer('shop', 'mail', true);
select is(core_private.drop_left_queues(), 0, 'while who dropped it is at work the table stays');
update core.queues set dropped_xact = '3' where dropped_at is not null;
select is(core_private.drop_left_queues(), 2, 'then both go');
select is((select count(*)::int from pgmq.meta), 3, 'also of pgmq'), is((select count(*)::int from core.delayed where queue_name like '%mail%'), 0, 'with what was delayed');
select ok(core.create_consumer('shop', 'mail', '{a.*}'), 'and again');
select is((select queue_name from core.consumers where name = 'mail'), 'core_events_shop__mail', 'now on its own');
select lives_ok($$select core.drop_namespace('shop', 'shop', true)$$, 'the namespace goes with all of it');
-- again and again, while queues of before are left
select core.create_namespace('anew');
select core.create_consumer('anew', 'brief', '{*}', '{"from": "beginning"}'), core.drop_consumer('anew', 'brief', true) from generate_series(1, 4);
select ok(core.create_consumer('anew', 'brief', '{*}'), 'a name is free once its consumer was dropped');
select is((select count(*)::int from core.queues where queue_name ~ '^core_events_anew__' and dropped_at is not null), 4, 'whose queues are left until nobody can write to them');
