-- Broadcast: a cursor stays for as long as broadcasts are kept for its node, and is of one namespace
-- holds: broadcast (nodes that go)
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop', '{"keep_broadcasts": "10 days"}'), core.create_namespace('mall');
create function pg_temp.left() returns text[] language sql as $$ select array_agg(node_id order by node_id) from core.nodes $$;
select core_node.register_node('shop', 'reads', true, '{}', '{"broadcasts": ["a"]}'), core_node.register_node('shop', 'plain', true, '{}'), core_node.register_node('mall', 'short', true, '{}', '{"broadcasts": ["a"]}');
update core.nodes set state = 'lost';
update nexus_test.clock set frozen = '2030-01-07 23:00Z';
select is(core_private.forget_nodes(), 0, 'nothing too early');
update nexus_test.clock set frozen = '2030-01-08 01:00Z';
select is(core_private.forget_nodes(), 2, 'after seven days those go for which nothing is kept');
select is(pg_temp.left(), '{reads}', 'one that may read yet does not');
update nexus_test.clock set frozen = '2030-01-11 00:00Z';
select is(core_private.forget_nodes(), 0, 'until its time is over');
update nexus_test.clock set frozen = '2030-01-11 00:01Z';
select is(core_private.forget_nodes(), 1, 'then it goes, too');
select is((select count(*)::int from core_private.broadcast_cursors), 0, 'with its cursor');
-- in another namespace
select core_node.register_node('shop', 'moves', true, '{}', '{"broadcasts": ["a"]}');
update core.nodes set state = 'stopped';
select core_node.register_node('mall', 'moves', true, '{}');
select is((select count(*)::int from core_private.broadcast_cursors), 0, 'a node that moves without handlers leaves no cursor behind');
update core.nodes set state = 'stopped';
select core_node.register_node('mall', 'moves', true, '{}', '{"broadcasts": ["a"]}');
update core.nodes set state = 'stopped';
select core_node.register_node('shop', 'moves', true, '{}', '{"broadcasts": ["b"]}');
select is((select (namespace, patterns)::text from core_private.broadcast_cursors), '(shop,{b})', 'one that moves with them begins there');
