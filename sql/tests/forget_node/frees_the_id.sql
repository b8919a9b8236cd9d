-- an operator frees the id of a node that was killed
select core.create_namespace('shop');
create temporary table n as select * from core.register_node('shop', 'n', true, '{a}');
select throws_like($$select core.register_node('shop', 'n', true, '{}')$$, '%is alive in namespace%', 'taken');
select ok(core.forget_node('n', 'killed'), 'forgotten');
select is((select count(*)::int from core_private.node_capabilities where node_id = 'n'), 0, 'with what it could do');
select ok(not core.forget_node('n'), 'once');
select ok(not core.heartbeat('n', (select incarnation from n), 'active'), 'if it lives nevertheless it must register anew');
select lives_ok($$select core.register_node('shop', 'n', true, '{}')$$, 'the id is free');
select throws_ok($$select core.forget_node('nobody')$$, 'NX104', null, 'unknown');
select is((select (action, namespace, target, reason, details)::text from core.audit_log), row('forget_node', 'shop', 'n', 'killed', '{"state_before": "starting"}'::jsonb)::text, 'who did it is kept');
