-- Lanes: what waits, how old it is, and which do not go on, of one namespace
-- holds: metrics (lanes), others-poison (the lag)
update nexus_test.clock set frozen = clock_timestamp();
select core.create_namespace('shop'), core.create_namespace('mall');
select is(core_node.metrics_sample('shop') -> 'lanes', '[]', 'no queue has lanes');
select core.outbox_register_queue('shop', 'pay', 3), core.outbox_register_queue('shop', 'mail', 2), core.outbox_register_queue('mall', 'other', 1);
create function pg_temp.lanes(p_field text) returns text language sql as $$
    update core_private.metric_samples set sampled_at = '-infinity';
    select string_agg(l ->> 'consumer' || ' ' || (l ->> p_field)::float8::text, ', ' order by n)
      from jsonb_array_elements(core_node.metrics_sample('shop') -> 'lanes') with ordinality x (l, n) $$;
select is(pg_temp.lanes('messages'), 'mail 0, pay 0', 'a row a queue, with nothing in it');
select core.outbox_enqueue('shop', 'pay', 'x', 't', 'k' || g) from generate_series(1, 20) g;
select core.outbox_enqueue('mall', 'other', 'x', 't');
update nexus_test.clock set shift = '40 s';
select core.outbox_enqueue('shop', 'mail', 'x', 't', 'k');
select is(pg_temp.lanes('messages'), 'mail 1, pay 20', 'what waits');
select is(pg_temp.lanes('lag_seconds'), 'mail 0, pay 40', 'and for how long');
select is(pg_temp.lanes('blocked'), 'mail 0, pay 0', 'nothing stands');
select core.lane_pause('shop', 'pay', 2, 'why');
update nexus_test.clock set shift = '65 s';
select core.lane_pause('shop', 'pay', 1, 'why');
select is(pg_temp.lanes('blocked'), 'mail 0, pay 2', 'two lanes do not go on');
select is(pg_temp.lanes('blocked_seconds'), 'mail 0, pay 25', 'the first of them since then');
update core_private.lanes set cluster = 1, ver = ver + 1 where lane_id = (select lane_id from core.lane_status where queue = 'mail' and lane = 0);
select is(pg_temp.lanes('blocked'), 'mail 1, pay 2', 'one of another server does not either');
select is(core_node.metrics_sample('shop') ->> 'lane_partitions', '0', 'no partition is full');
update core_private.lane_partitions set xid = '3' where upper = (select min(upper) from core_private.lane_partitions);
update core_private.metric_samples set sampled_at = '-infinity';
select is(core_node.metrics_sample('shop') ->> 'lane_partitions', '1', 'one that is full and still there');
