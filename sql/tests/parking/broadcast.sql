-- D7: in default, a broadcast that nobody handles there is removed and counted: it is the nodes'
-- holds: D7-given-up (broadcast)
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop', '{"unhandled_after": "1 min"}');
select core.create_consumer('shop', 'audit', '{b}');
select core_node.register_node('shop', 'n', true, '{other,other}', '{}', '{default,audit}');
select core.emit('shop', 'a', '1', '{"broadcast": true}'), core.emit('shop', 'a'), core.emit('shop', 'b', '1', '{"broadcast": true}');
select is(core_private.park_unhandled() -> 'parked', '4', 'nobody handles them');
update nexus_test.clock set frozen = '2030-01-01 00:00:30Z';
select core.touch_node_heartbeat('n'), core_private.park_unhandled();
update nexus_test.clock set frozen = '2030-01-01 00:01:01Z';
select core.touch_node_heartbeat('n'), core_private.park_unhandled();
select is((select array_agg(consumer || ' ' || event_type order by consumer) from core.dead_letters), '{"audit b","default a"}', 'what is none is given up, and so is what a named consumer asked for');
select is((select removed from core_private.parking where queue_name = 'core_events_shop'), 2::bigint, 'the broadcasts are counted');
