-- an operator frees the id of a node that was killed
-- holds: L5-who, N1-lost-cleared
select core.create_namespace('shop');
create temporary table n as select * from core_node.register_node('shop', 'n', true, '{a}');
select throws_like($$select core_node.register_node('shop', 'n', true, '{}')$$, '%is alive in namespace%', 'taken');
select ok(core.forget_node('n', 'killed'), 'forgotten');
select is((select count(*)::int from core_private.node_capabilities where node_id = 'n'), 0, 'with what it could do');
select ok(not core_node.heartbeat('n', (select incarnation from n), 'active'), 'if it lives nevertheless it must register anew');
select lives_ok($$select core_node.register_node('shop', 'n', true, '{}')$$, 'the id is free');
select ok(core.forget_node('n', 'again'), 'and forgotten again');
select is((select state from core.nodes where node_id = 'n'), 'lost', 'a killed one is lost');
select ok(core.forget_node('n', 'known'), 'a lost one');
select is((select count(*)::int from core.nodes where node_id = 'n'), 0, 'is gone');
select lives_ok($$select core_node.register_node('shop', 'n', true, '{}')$$, 'its id is free');
select core_node.heartbeat('n', (select x.incarnation from core.nodes x where x.node_id = 'n'), 'stopped');
select ok(not core.forget_node('n'), 'one that said goodbye is left alone');
select throws_ok($$select core.forget_node('nobody')$$, 'NX104', null, 'unknown');
select is((select (action, namespace, target, reason, details)::text from core.audit_log order by audit_id limit 1), row('forget_node', 'shop', 'n', 'killed', '{"state_before": "starting"}'::jsonb)::text, 'who did it is kept');
select is((select (reason, details)::text from core.audit_log order by audit_id desc limit 1), row('known', '{"state_before": "lost"}'::jsonb)::text, 'of a lost one, too');
