-- A queue without a table is passed over and keeps nobody waiting, and what is parked for it stays so.
-- holds: NS1-lost-queues
select core.create_namespace('shop', '{"unhandled_after": "1 min"}'), core.create_namespace('gone', '{"unhandled_after": "1 min"}'), core.create_namespace('cellar', '{"unhandled_after": "1 min"}');
update nexus_test.clock set frozen = core.now();
create function pg_temp.park(p_namespace text, p_id bigint, p_type text) returns void language sql as $$
  insert into core.parked (queue_name, event_type, msg_id, namespace, event_id, read_ct, enqueued_at, message, parked_at, lived)
  values ('core_events_' || p_namespace, p_type, p_id, p_namespace, null, 0, core.now(), jsonb_build_object('eventType', p_type, 'payload', 1), core.now(), '0') $$;
create temporary table nodes as
  select v.ns, r.* from (values ('gone'), ('shop'), ('cellar')) v(ns) cross join lateral core_node.register_node(v.ns, v.ns || 1, true, '{a}') r;
update core.nodes set state = 'active';
select pg_temp.park(ns, 101, 'a'), pg_temp.park(ns, 102, 'b') from nodes;
select core.emit(ns, 'c') from nodes;
drop table pgmq.q_core_events_gone, pgmq.q_core_events_cellar_dlq;
update core_private.parking set seen_at = core.now() - interval '1 hour' where queue_name = 'core_events_gone';
select is(core_private.park_unhandled(p_queues => 1) ->> 'unparked', '1', 'it takes no place from others, however long it has waited');
select is(core_private.park_unhandled(p_queues => 10) - '{buried,removed}'::text[], '{"parked": 1, "unparked": 1}', 'one whose dead-letter queue is gone goes on as well');
update core.nodes set last_heartbeat = core.now();
update core_private.parking set lived = '1 hour';
select core.emit('cellar', 'd');
select is(core_private.park_unhandled() ->> 'buried', '2', 'what has waited long enough is given up');
select is((select array_agg(distinct namespace) from core.dead_letters), '{shop}', 'where there is a place for dead letters');
select is((select array_agg(queue_name || ' ' || event_type order by queue_name, event_type) from core.parked where msg_id > 100),
  '{"core_events_cellar b","core_events_gone a","core_events_gone b"}', 'the others keep theirs');
select is((select queue_name from core.parked where event_type = 'd'), 'core_events_cellar', 'and what else is to be done there is done');
select throws_ok($$select core_private.pull_back('core_events_gone', '{a}', 10)$$, 'NX110', null, 'nothing comes back to what is not there');
select is(core_node.unpark('gone'), 0, 'and a node that registers is not refused for it');
select lives_ok($$select core_node.register_node('gone', 'gone2', true, '{b}')$$, 'registered');
select ok(core.create_namespace('gone', '{"unhandled_after": "1 min"}'), 'made again');
select is(core_node.unpark('gone'), 2, 'then all comes back');
select is((select array_agg(msg_id order by msg_id) from pgmq.q_core_events_gone), '{101,102}', 'under the ids it had');
select ok((select message_id > 102 from core.emit('gone', 'a')), 'which nothing new takes');
