-- D1, D4, D6
-- holds: D1-floor, D6, others-claims
select core.create_namespace('shop');
select core.emit_batch('shop', array['a', 'b', 'a', 'c.d'], array['1', '2', '3', '4']::jsonb[]);
create temporary table c1 as select * from core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s');
select is((select count(*)::int from c1 where outcome = 'claimed'), 2, 'only the types asked for');
select is((select (read_ct, scanned_to)::text from c1 where outcome = 'window'), '(4,4)', 'the window tells what was looked at');
select is((select array_agg(distinct read_ct) from c1 where outcome = 'claimed'), array[1], 'read_ct rises');
select is((select count(*)::int from core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s') where outcome = 'claimed'), 0, 'a lease hides');
select is((select count(*)::int from core_node.claim('core_events_shop', '{c.*}', '{0}', 10, '30 s') where outcome = 'claimed'), 1, 'a pattern takes what begins so');
update nexus_test.clock set shift = '31 s';
create function pg_temp.take(p_sweep boolean) returns integer language sql as $$ select count(*)::int from core_node.claim('core_events_shop', '{a}', '{2}', 10, '30 s', p_sweep => p_sweep) where outcome = 'claimed' $$;
select is(pg_temp.take(true) + pg_temp.take(true), 2, 'an ended lease is found by a sweep');
update nexus_test.clock set shift = '62 s';
select is(pg_temp.take(false) + pg_temp.take(false), 2, 'and by an ordinary claim');
update nexus_test.clock set shift = '93 s';
select is((select count(*)::int from core_node.claim('core_events_shop', '{a}', '{2}', 10, '30 s') where outcome = 'buried'), 2, 'a message whose process died max_attempts times is buried');
select is((select array_agg(distinct reason || ' ' || attempts) from core.dead_letters), array['not acknowledged (process lost) 2'], 'with the reason');
select pgmq.send('core_events_shop'::text, '"no envelope"'::jsonb);
select is((select count(*)::int from core_node.claim('core_events_shop', '{zzz}', '{0}', 10, '30 s') where outcome = 'buried'), 1, 'what is no envelope and nobody handles is buried');
select is((select payload from core.dead_letters where reason = 'not an envelope'), '"no envelope"'::jsonb, 'with all it held');
select core_node.register_node('shop', 'n1', true, '{unknown.raw}');
select pgmq.send('core_events_shop'::text, '"no envelope"'::jsonb);
select is((select count(*)::int from core_node.claim('core_events_shop', '{zzz}', '{0}', 10, '30 s') where outcome = 'buried'), 0, 'but not while some live node handles unknown.raw');
select throws_ok($$select core_node.claim('core_events_nowhere', '{a}', '{0}', 10, '30 s')$$, 'NX103', null, 'unknown queue');
select throws_ok($$select core_node.claim('core_events_shop_dlq', '{a}', '{0}', 10, '30 s')$$, 'NX006', null, 'a dead-letter queue is not consumed');
select throws_ok($$select core_node.claim('core_events_shop', '{a}', '{0,1}', 10, '30 s')$$, 'NX006', null, 'arrays are parallel');
select throws_ok($$select core_node.claim('core_events_shop', '{a}', '{0}', 10, '0 s')$$, 'NX006', null, 'a lease has a length');
