-- What is delayed for a queue without a table is kept until that is back, and holds up nobody.
-- holds: NS1-lost-queues
select core.create_namespace('shop'), core.create_namespace('gone');
select core.emit('gone', 'x', '1', '{"delay": "1 min"}');
drop table pgmq.q_core_events_gone;
select core.emit('shop', 'x', '1', '{"delay": "2 min"}'), core.emit('gone', 'x', '2', '{"delay": "1 min"}');
-- more of them than a call looks at
insert into core.consumers (namespace, name, patterns, queue_name) select 'gone', 'c' || g, '{none}', 'core_events_gone__' || g from generate_series(1, 120) g;
insert into core.queues (queue_name, namespace, consumer_id) select queue_name, namespace, consumer_id from core.consumers where queue_name ~ 'gone__';
insert into core.delayed (due_at, queue_name, event_type, message) select core.now() + interval '1 min', 'core_events_gone__' || g, 'x', '{}' from generate_series(1, 120) g;
select is(core_node.next_delayed_due(), (select due_at from core.delayed where queue_name = 'core_events_shop'), 'the next one is that of a queue which is there');
update nexus_test.clock set shift = '1 hour';
select is(core_node.promote_delayed(), 1, 'what can go goes');
select is(core_node.promote_delayed(), 0, 'once');
select is(core_node.next_delayed_due(), null, 'and nobody comes back for the rest');
select is((select count(*)::int from core.delayed), 122, 'which stays');
delete from core.consumers where queue_name ~ 'gone__';
select is(core_private.set_aside(), 0, 'what is set aside goes on');
select ok(core.create_namespace('gone'), 'made again');
select is(core_node.promote_delayed(), 2, 'then it comes');
select is((select array_agg(message ->> 'payload' order by message ->> 'payload') from pgmq.q_core_events_gone), '{1,2}', 'all of it');
