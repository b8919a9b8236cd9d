-- C4: max_in_flight bounds what is leased, in every form of a claim, and what was lost counts no more
-- holds: C4
select core.create_namespace('shop');
update nexus_test.clock set frozen = clock_timestamp();
select core.alter_consumer('shop', 'default', null, '{"max_in_flight": 3}');
select core.emit_batch('shop', array_fill('a'::text, array[20]), array_fill('1'::jsonb, array[20]));
create function pg_temp.claimed(p_limit integer = 10, p_lease interval = '30 s', p_window integer = null, p_sweep boolean = false) returns text language sql as $$
    select coalesce(string_agg(outcome || ' ' || case outcome when 'claimed' then msg_id::text else concat_ws(' ', read_ct, message #>> '{}', scanned_to) end, ', ' order by outcome, msg_id), '')
      from core_node.claim('core_events_shop', '{a}', '{0}', p_limit, p_lease, 1, p_window => p_window, p_sweep => p_sweep) where outcome <> 'window' $$;
create function pg_temp.acked(p_ids bigint[]) returns bigint language sql as $$
    select count(*) from core_node.settle('core_events_shop', 'n', p_ids, array(select q.read_ct from unnest(p_ids) with ordinality u(i, n) join pgmq.q_core_events_shop q on q.msg_id = u.i order by u.n), pg_temp.ats(p_ids)) $$;
create function pg_temp.in_flight() returns integer language sql as $$
    select in_flight from core.consumer_status where namespace = 'shop' and consumer = 'default' $$;

select is(pg_temp.claimed(2), 'claimed 1, claimed 2', 'within the limit there is nothing to tell');
select is(pg_temp.claimed(), 'claimed 3, limited 1 max_in_flight', 'no more than there is room for');
select is(pg_temp.claimed(), 'limited 0 max_in_flight', 'then nothing');
select is(pg_temp.claimed(p_sweep => true), 'limited 0 max_in_flight', 'nor by a sweep');
select is(pg_temp.in_flight(), 3, 'the status shows them');
select is(pg_temp.acked('{2}'), 0::bigint, 'one is settled');
select is(pg_temp.claimed(p_window => 100), 'claimed 4, limited 1 max_in_flight', 'which makes room for one');
select is(pg_temp.acked('{1}'), 0::bigint, 'another one is settled');
select is((select string_agg(outcome || ' ' || msg_id, ', ' order by outcome, msg_id)
             from core_node.settle_and_claim('core_events_shop', 'n', '{3}', '{1}', pg_temp.ats('{3}'), '[]', '{a}', '{0}', 10, '30 s', 1) where outcome <> 'window'),
          'claimed 5, claimed 6, limited 0', 'what is settled in the same exchange makes room');

-- a retry waits, a release too: neither is in flight
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}',
    pg_temp.failed('{4,5}', '{1,1}', pg_temp.ats('{4,5}'), '{retry,release}', '{10 s,10 s}', '{null,null}', '{e,e}', '{e,e}'));
select is(pg_temp.in_flight(), 1, 'what waits is not in flight');
select is(pg_temp.claimed(), 'claimed 7, claimed 8, limited 2 max_in_flight', 'and makes room');

-- a node dies
update nexus_test.clock set shift = '29 s';
select is(pg_temp.claimed(), 'limited 0 max_in_flight', 'while the lease lasts a dead node keeps its places');
select is((select count(*) from core_node.extend('core_events_shop', '{6}', '{1}', pg_temp.ats('{6}'), '30 s')), 0::bigint, 'another one renews its lease');
update nexus_test.clock set shift = '31 s';
select is((select count(*) from core_node.extend('core_events_shop', '{7}', '{1}', pg_temp.ats('{7}'), '30 s')), 1::bigint, 'a lease that has ended is lost, though nobody took it');
select is(pg_temp.in_flight(), 1, 'it counts no more');
select is(pg_temp.claimed(1), 'claimed 4', 'places come back with the leases');
select is(pg_temp.claimed(), 'claimed 5, limited 1 max_in_flight', 'all of them');
select is(pg_temp.acked('{6,4,5}'), 0::bigint, 'all settled');

-- batches, once claims are known by their notes alone
update core_private.consumer_limits set counts_from = counts_from - interval '1 hour';
create function pg_temp.batch(p_at_least integer = 1) returns text language sql as $$
    select coalesce(string_agg(outcome || coalesce(' ' || nullif(msg_id, 0), ''), ', ' order by outcome, msg_id), '')
      from core_node.claim_batch('core_events_shop', '{a}', '{0}', 10, p_at_least, p_floor => 9, p_lease => '30 s') where outcome <> 'window' $$;
select is(pg_temp.batch(10), 'claimed 9, claimed 10, claimed 11, limited', 'a batch is cut, and as large as it can get; nothing speaks for express');
select is(pg_temp.batch(), 'limited', 'the next one has to wait');
select ok((select leases from core_node.open_express('core_events_shop', 'n', 3, '{12}')), 'no express');
select is((select count(*)::int from core_private.express_batches), 0, 'and no mark of it');
select is(pg_temp.acked('{9,10}'), 0::bigint, 'two are settled');
select is((select array_agg(msg_id order by msg_id) from core_node.claim_these('core_events_shop', '{12,13,14}', '{0,0,0}', '30 s')), '{12,13}', 'a batch that failed is leased as far as there is room');
select is(pg_temp.claimed(), 'limited 0 max_in_flight', 'and counts');
select is((select count(*)::int from core_node.claim_these('core_events_shop', '{14}', '{0}', '30 s')), 0, 'then not at all');

-- another limit holds from the next claim on
select core.alter_consumer('shop', 'default', null, '{"max_in_flight": 2}');
select is(pg_temp.claimed(), 'limited 0 max_in_flight', 'a lower limit');
select is(pg_temp.acked('{11,12}'), 0::bigint, 'as things are settled');
select is(pg_temp.claimed(), 'claimed 7, limited 1 max_in_flight', 'is come down to');
select core.alter_consumer('shop', 'default', null, '{"max_in_flight": null}');
select is(pg_temp.in_flight(), null, 'without a limit nothing is counted');
select is(pg_temp.claimed(4), 'claimed 8, claimed 14, claimed 15, claimed 16', 'nor held back');
select is((select count(*)::int from core_private.consumer_limits), 0, 'nor noted');
select core.alter_consumer('shop', 'default', null, '{"max_in_flight": 7}');
select is(pg_temp.claimed(10), 'claimed 17, limited 1 max_in_flight', 'what was in flight before there was a limit counts');

-- claims that were not noted count while they may go on
select core.alter_consumer('shop', 'default', null, '{"max_in_flight": null, "rate": "1000/s"}');
delete from pgmq.q_core_events_shop;
select core.emit_batch('shop', array_fill('a'::text, array[20]), array_fill('1'::jsonb, array[20]));
select is(pg_temp.claimed(2, '1 h'), 'claimed 21, claimed 22', 'with a rate alone nothing is in flight');
update nexus_test.clock set shift = '2 min';
select core.alter_consumer('shop', 'default', null, '{"max_in_flight": 8}');
select is(pg_temp.claimed(1, '1 h'), 'claimed 23', 'then');
select is(pg_temp.in_flight(), 3, 'it is, with what was before');

-- claims are noted one by one, and counted only where that leaves no room
update nexus_test.clock set shift = '4 min';
select is(pg_temp.claimed(1, '1 h'), 'claimed 24', 'a minute later it is counted once more');
select is(pg_temp.claimed(1, '1 h'), 'claimed 25', 'each');
select is(pg_temp.claimed(1, '1 h'), 'claimed 26', 'alone');
select is((select array_agg(whole::text || cardinality(msg_ids) || '/' || at_most order by claim_no) from core_private.limited_claims), '{true4/4,false1/5,false1/6}', 'is noted');
select is(pg_temp.acked('{21,24}'), 0::bigint, 'two are settled');
select is(pg_temp.claimed(2, '1 h'), 'claimed 27, claimed 28', 'which nobody has to know yet');
select is((select max(at_most) from core_private.limited_claims), 8, 'so that 8 are counted');
select is(pg_temp.in_flight(), 6, 'and 6 shown');
select is(pg_temp.claimed(10, '1 h'), 'claimed 29, claimed 30, limited 2 max_in_flight', 'until it matters');
select is((select array_agg(whole::text || cardinality(msg_ids) || '/' || at_most order by claim_no) from core_private.limited_claims), '{true8/8}', 'which begins anew');
select is(pg_temp.claimed(10, '1 h'), 'limited 0 max_in_flight', 'and is exact');
select core.alter_consumer('shop', 'default', null, '{"max_in_flight": 9}');
select is(pg_temp.claimed(10, '1 h'), 'claimed 31, limited 1 max_in_flight', 'another limit counts anew, too');
