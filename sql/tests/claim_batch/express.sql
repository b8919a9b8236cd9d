-- H3: locked, not counted
-- holds: H3
select core.create_namespace('shop');
select core.emit_batch('shop', array['a', 'b', 'a', 'c.d', 'a'], array['1', '2', '3', '4', '5']::jsonb[]);
set local statement_timeout = '1 min';
create temporary table before as select count(*)::int as n from pg_locks where locktype = 'advisory' and pid = pg_backend_pid();
create temporary table c1 as select * from core_node.claim_batch('core_events_shop', '{a}', '{0}', 2, p_window => 4, p_key => 42, p_within => '50 s');
select is((select array_agg(msg_id order by msg_id) from c1 where outcome = 'claimed'), array[1, 3]::bigint[], 'the first of the types asked for');
select is((select array_agg(distinct read_ct) from c1 where outcome = 'claimed'), array[0], 'none is counted as read');
select is((select array_agg(distinct read_ct) from pgmq.q_core_events_shop), array[0], 'in the queue neither');
select is(current_setting('idle_in_transaction_session_timeout'), '50s', 'the server ends who sits idle');
select is(current_setting('statement_timeout'), '50s', 'and a statement that takes longer');
select is((select msg_id from c1 where outcome = 'window'), pg_current_xact_id()::text::bigint, 'its transaction is named');
select is((select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()), n, 'it takes no lock that others could take') from before;
set local statement_timeout = '40 s';
select core_node.claim_batch('core_events_shop', '{a}', '{0}', 2, p_key => 42, p_within => '50 s');
select is(current_setting('statement_timeout'), '40s', 'a limit that is shorter stays');

select is((select count(*)::int from core_node.claim_batch('core_events_shop', '{c.*}', '{0}', 10, p_key => 42, p_within => '50 s') where outcome = 'claimed'), 1, 'a pattern takes what begins so');
select is((select count(*)::int from core_node.claim_batch('core_events_shop', '{a}', '{0}', 10, p_floor => 3, p_key => 42, p_within => '50 s') where outcome = 'claimed'), 2, 'from the floor on');
select is((select count(*)::int from core_node.claim_batch('core_events_shop', '{a}', '{0}', 10, p_floor => 9, p_sweep => true, p_key => 42, p_within => '50 s') where outcome = 'claimed'), 3, 'a sweep knows no floor');
select is((select scanned_to from core_node.claim_batch('core_events_shop', '{zzz}', '{0}', 1, p_window => 4, p_key => 42, p_within => '50 s') where outcome = 'window'), 4::bigint, 'scanned_to moves on though nothing matches');
select is((select string_agg(outcome || read_ct, ' ' order by outcome) from core_node.claim_batch('core_events_shop', '{a}', '{0}', 10, 4, p_key => 42, p_within => '50 s')), 'few3 window5', 'fewer than asked for are left');

update pgmq.q_core_events_shop set vt = core.now() + interval '1 hour' where msg_id = 1;
select is((select count(*)::int from core_node.claim_batch('core_events_shop', '{a}', '{0}', 10, p_floor => 1, p_key => 42, p_within => '50 s') where outcome = 'claimed'), 2, 'what is leased or waits is not taken');
update pgmq.q_core_events_shop set read_ct = 2, headers = '{"nexus-alone": 2, "nexus-deaths": 1}' where msg_id = 3;
create temporary table c2 as select * from core_node.claim_batch('core_events_shop', '{a}', '{2}', 10, p_key => 42, p_within => '50 s');
select is((select string_agg(outcome || msg_id, ' ' order by outcome) from c2 where outcome <> 'window'), 'buried3 claimed5', 'D6: a message whose processes died max_attempts times is buried');
select pgmq.send('core_events_shop'::text, '"no envelope"'::jsonb);
select is((select count(*)::int from core_node.claim_batch('core_events_shop', '{zzz.*}', '{0}', 10, p_key => 42, p_within => '50 s') where outcome = 'buried'), 1, 'what is no envelope and nobody handles is buried');
select core_node.register_node('shop', 'n1', true, '{unknown.raw}');
select pgmq.send('core_events_shop'::text, '"no envelope"'::jsonb);
select is((select count(*)::int from core_node.claim_batch('core_events_shop', '{zzz.*}', '{0}', 10, p_key => 42, p_within => '50 s') where outcome = 'buried'), 0, 'but not while some live node handles unknown.raw');
select is((select count(*)::int from core_node.claim_batch('core_events_shop', '{unknown.*}', '{0}', 10, p_key => 42, p_within => '50 s') where outcome = 'claimed'), 1, 'which gets it');

update core.consumers set state = 'paused' where namespace = 'shop';
select is((select count(*)::int from core_node.claim_batch('core_events_shop', '{a}', '{0}', 10, p_key => 42, p_within => '50 s') where outcome = 'claimed'), 0, 'a paused consumer gets nothing');

select throws_ok($$select core_node.claim_batch('core_events_nowhere', '{a}', '{0}', 10, p_key => 42, p_within => '50 s')$$, 'NX103', null, 'unknown queue');
select throws_ok($$select core_node.claim_batch('core_events_shop_dlq', '{a}', '{0}', 10, p_key => 42, p_within => '50 s')$$, 'NX006', null, 'a dead-letter queue is not consumed');
select throws_ok($$select core_node.claim_batch('core_events_shop', '{a}', '{0,1}', 10, p_key => 42, p_within => '50 s')$$, 'NX006', null, 'arrays are parallel');
select throws_ok($$select core_node.claim_batch('core_events_shop', '{a}', '{0}', 10)$$, 'NX006', null, 'neither express nor a lease');
select throws_ok($$select core_node.claim_batch('core_events_shop', '{a}', '{0}', 10, p_key => 42, p_within => '50 s', p_lease => '30 s')$$, 'NX006', null, 'both');
select throws_ok($$select core_node.claim_batch('core_events_shop', '{a}', '{0}', 10, p_key => 42)$$, 'NX006', null, 'express has a limit');
