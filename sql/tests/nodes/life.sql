-- N1, N2
-- holds: N1, N1-gone, N2, N1-killed, N2-goodbye
select core.create_namespace('shop');
create temporary table a as select * from core_node.register_node('shop', 'n', true, '{a,b.*}', '{"version": "1", "host": "h"}');
select is((select array_agg(key order by key) from core_private.node_capabilities where node_id = 'n')::text[], array['a', 'b.*'], 'what it can do is stored as rows');
select throws_ok($$select core_node.register_node('shop', 'n', true, '{}')$$, 'NX204', null, 'a live twin is refused if the id was given');
select is((select node_id from core_node.register_node('shop', 'n', false, '{}')), 'n-2', 'and numbered if it was not');
select ok(core_node.heartbeat('n', (select incarnation from a), 'active'), 'a heartbeat');
select ok(not core_node.heartbeat('n', gen_random_uuid(), 'active'), 'not of another incarnation');
select ok(core.touch_node_heartbeat('n') and not core.touch_node_heartbeat('nobody'), 'touch says whether it exists');
update nexus_test.clock set shift = '91 s';
select is(core_node.reap_nodes(), 2, 'three missed heartbeats: lost');
select ok(not core_node.heartbeat('n', (select incarnation from a), 'active'), 'a lost node must register anew');
select is((select count(*)::int from core_private.node_capabilities), 0, 'what the lost could do is forgotten');
select lives_ok($$select core_node.register_node('shop', 'n', true, '{a}')$$, 'its id is free again');
select throws_ok($$select core_node.register_node('shop', 'x', true, '{a*b}')$$, 'NX008', null, 'patterns are checked');
select throws_ok($$select core_node.register_node('nowhere', 'x', true, '{}')$$, 'NX101', null, 'the namespace is checked');
select throws_ok($$select core_node.register_node('shop', 'x', true, '{a}', '{}', '{nobody}')$$, 'NX102', null, 'so are consumers');
select throws_ok($$select core_node.register_node('shop', 'x', true, '{a,b}', '{}', '{default}')$$, 'NX006', null, 'which are parallel to the types');
select core_node.register_node('shop', 'x', true, '{a,b}', '{}', '{default,default}');
select is(core_private.live_patterns('shop', 'default', core.now()), array['a', 'b'], 'what is handled for a consumer');
update core.nodes set last_heartbeat = core.now() - interval '91 s';
select is(core_private.live_patterns('shop', 'default', core.now()), null, 'by nodes that live, whether the reaper was there or not');
-- killed: the session of its last heartbeat is gone
create temporary table b as select * from core_node.register_node('shop', 'k', true, '{}', '{"host": "h"}');
select throws_ok($$select core_node.register_node('shop', 'k', true, '{}', '{"host": "h"}')$$, 'NX204', null, 'its session lives');
update core.nodes set session_pid = 0 where node_id = 'k';
select throws_ok($$select core_node.register_node('shop', 'k', true, '{}', '{"host": "other"}')$$, 'NX204', null, 'on another host nobody can know');
select throws_ok($$select core_node.register_node('shop', 'k', true, '{}')$$, 'NX204', null, 'nor without a host');
update core.nodes set principal = 'somebody' where node_id = 'k';
select throws_ok($$select core_node.register_node('shop', 'k', true, '{}', '{"host": "h"}')$$, 'NX204', null, 'nor under another login');
update core.nodes set principal = core_private.principal() where node_id = 'k';
select lives_ok($$select core_node.register_node('shop', 'k', true, '{}', '{"host": "h"}')$$, 'the same login on the same host may come back at once');
-- gone: a process of the same kernel and space of numbers did not find it
create temporary table g as select * from core_node.register_node('shop', 'g', true, '{}', '{"host": "h", "process": {"boot": "b", "space": "s", "pid": 7, "start": "1"}}');
select is((select process ->> 'pid' from core_node.node_process('shop', 'g')), '7', 'which process has an id');
select is((select incarnation from core_node.node_process('shop', 'g')), (select incarnation from g), 'and which life of it');
select is((select incarnation from core_node.node_process('shop', 'nobody')), null, 'none has an unknown one');
select throws_ok(format('select core_node.register_node(''shop'', ''g'', true, ''{}'', %L)', format(c.info, c.inc)), 'NX204', null, c.why) from (values
    ('{"host": "h", "process": {"boot": "b", "space": "s"}, "gone": "%s"}', gen_random_uuid(), 'another life of it is gone'),
    ('{"host": "h", "process": {"boot": "c", "space": "s"}, "gone": "%s"}', (select incarnation from g), 'another kernel cannot know'),
    ('{"host": "h", "process": {"boot": "b", "space": "t"}, "gone": "%s"}', (select incarnation from g), 'nor another space of numbers'),
    ('{"host": "i", "process": {"boot": "b", "space": "s"}, "gone": "%s"}', (select incarnation from g), 'nor another host'),
    ('{"host": "h", "gone": "%s"}', (select incarnation from g), 'nor who says nothing about itself')) c(info, inc, why);
select lives_ok(format('select core_node.register_node(''shop'', ''g'', true, ''{}'', %L)', format('{"host": "h", "process": {"boot": "b", "space": "s"}, "gone": "%s"}', (select incarnation from g))), 'who does not find it may have its id');
select is((select metadata ->> 'gone' from core.nodes where node_id = 'g'), null, 'and it is not kept');
select ok(not core_node.heartbeat('k', (select incarnation from b), 'active'), 'and has superseded the one before');
-- its end
create temporary table d as select * from core_node.register_node('shop', 'd', true, '{}');
select ok(core_node.heartbeat('d', (select incarnation from d), 'stopped'), 'a goodbye');
select ok(not core_node.heartbeat('d', (select incarnation from d), 'draining'), 'a heartbeat that comes late');
select is((select state from core.nodes where node_id = 'd'), 'stopped', 'does not undo it');
select ok(core_node.heartbeat('d', (select incarnation from d), 'stopped'), 'it may be said twice');
select lives_ok($$select core_node.register_node('shop', 'd', true, '{}')$$, 'and the id is free');
