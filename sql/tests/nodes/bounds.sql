-- N1: what a node says of itself is bounded
-- holds: P1-hostile
select core.create_namespace('shop');
select lives_ok($$select core_node.register_node('shop', 'n', true, array(select 't' || g from generate_series(1, 2000) g))$$, 'two thousand patterns');
select throws_ok($$select core_node.register_node('shop', 'm', true, array(select 't' || g from generate_series(1, 2001) g))$$, 'NX006', 'there are 2001 types, more than 2000', 'and no more');
select throws_ok($$select core_node.register_node('shop', 'm', true, '{x}', jsonb_build_object('a', repeat('x', 65536)))$$, 'NX006', null, 'nor more than 64 KB of anything else');
select throws_ok($$select core_node.heartbeat('n', gen_random_uuid(), 'active', jsonb_build_object('a', repeat('x', 65536)))$$, 'NX006', null, 'with a heartbeat either');
select core_node.heartbeat(n.node_id, n.incarnation, 'active', jsonb_build_object('k' || g, repeat('x', 60000))) from core.nodes n, generate_series(1, 10) g;
select is(count(*)::int, 1, 'what heartbeats add up to is bounded') from core.nodes where octet_length(metadata::text) < 200000;
