-- N1, N2
select core.create_namespace('shop');
create temporary table a as select * from core.register_node('shop', 'n', true, '{a,b.*}', '{"version": "1", "host": "h"}');
select is((select array_agg(key order by key) from core_private.node_capabilities where node_id = 'n')::text[], array['a', 'b.*'], 'what it can do is stored as rows');
select throws_ok($$select core.register_node('shop', 'n', true, '{}')$$, 'NX204', null, 'a live twin is refused if the id was given');
select is((select node_id from core.register_node('shop', 'n', false, '{}')), 'n-2', 'and numbered if it was not');
select ok(core.heartbeat('n', (select incarnation from a), 'active'), 'a heartbeat');
select ok(not core.heartbeat('n', gen_random_uuid(), 'active'), 'not of another incarnation');
select ok(core.touch_node_heartbeat('n') and not core.touch_node_heartbeat('nobody'), 'touch says whether it exists');
update nexus_test.clock set shift = '91 s';
select is(core.reap_nodes(), 2, 'three missed heartbeats: lost');
select ok(not core.heartbeat('n', (select incarnation from a), 'active'), 'a lost node must register anew');
select is((select count(*)::int from core_private.node_capabilities), 0, 'what the lost could do is forgotten');
select lives_ok($$select core.register_node('shop', 'n', true, '{a}')$$, 'its id is free again');
select throws_ok($$select core.register_node('shop', 'x', true, '{a*b}')$$, 'NX008', null, 'patterns are checked');
select throws_ok($$select core.register_node('nowhere', 'x', true, '{}')$$, 'NX101', null, 'the namespace is checked');
