-- a request that the node obeys
-- holds: L5-who, N4-operator
select core.create_namespace('shop');
create temporary table n as select * from core_node.register_node('shop', 'n', true, '{a}');
select ok(not core_node.must_drain('n', incarnation), 'nobody asked') from n;
select ok(core.drain_node('n', 'deploy'), 'asked');
select ok(core_node.must_drain('n', incarnation), 'the node hears it') from n;
select ok(not core_node.must_drain('n', gen_random_uuid()), 'another incarnation does not');
select ok(core_node.heartbeat('n', incarnation, 'stopped'), 'it ended') from n;
select ok(not core.drain_node('n'), 'who does not run cannot drain');
create temporary table m as select * from core_node.register_node('shop', 'n', true, '{a}');
select ok(not core_node.must_drain('n', incarnation), 'started again it runs on') from m;
select throws_ok($$select core.drain_node('nobody')$$, 'NX104', null, 'unknown');
select is((select (action, target, reason)::text from core.audit_log), '(drain_node,n,deploy)', 'who asked is kept');
