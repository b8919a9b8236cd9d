-- Broadcast: the lag of a namespace is that of its live nodes
-- holds: broadcast (lag)
update nexus_test.clock set frozen = clock_timestamp();
select core.create_namespace('shop'), core.create_namespace('mall');
select is(core_node.metrics_sample('shop') -> 'broadcasts', 'null', 'without nodes that handle any there is none');
select core_node.register_node('shop', 'n1', true, '{}', '{"broadcasts": ["a"]}'), core_node.register_node('shop', 'n2', true, '{}', '{"broadcasts": ["*"]}');
update core_private.broadcast_cursors set seen = '100:100:', top = 1000000000, missed = 2;
insert into core.broadcasts (namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message)
select s, core_private.cluster_id(), '110', 7, gen_random_uuid(), t, core.now() - a::interval, '{}'
  from (values ('shop', 'a', '10 s'), ('shop', 'b', '40 s'), ('mall', 'a', '90 s')) v (s, t, a);
update core_private.metric_samples set sampled_at = '-infinity';
select is((core_node.metrics_sample('shop') -> 'broadcasts')::text::jsonb - 'lag_seconds', '{"missed": 4}', 'what nodes have missed');
select is((core_node.metrics_sample('shop') #>> '{broadcasts,lag_seconds}')::float8, 40::float8, 'the oldest that one of them has not handled');
update core.nodes set state = 'stopped' where node_id = 'n2';
update core_private.metric_samples set sampled_at = '-infinity';
select is((core_node.metrics_sample('shop') #>> '{broadcasts,lag_seconds}')::float8, 10::float8, 'nobody waits for one that has stopped');
select is((core_node.metrics_sample('shop') #>> '{broadcasts,missed}')::int, 4, 'but what it has missed counts');
select core_node.register_node('mall', 'm1', true, '{}', '{"broadcasts": ["a"]}');
update core.nodes set state = 'lost';
update core_private.metric_samples set sampled_at = '-infinity';
select is(core_node.metrics_sample('shop') ->> 'broadcasts', '{"missed": 4, "lag_seconds": 0}', 'without live ones there is no lag');
