-- H3: under leases, whatever may have killed a process goes alone
-- holds: H3-deaths, alone-left, others-claims
select core.create_namespace('shop');
update nexus_test.clock set frozen = clock_timestamp();
select core.emit_batch('shop', array_fill('a'::text, array[10]), array_fill('1'::jsonb, array[10]));
create function pg_temp.take(p_max integer = 5, p_limit integer = 20) returns text language sql as $$
    select coalesce(string_agg(outcome || coalesce(case when outcome <> 'alone' then msg_id::text || '/' || read_ct end, '=' || read_ct), ' ' order by outcome, msg_id), '')
      from core_node.claim_batch('core_events_shop', '{a}', array[p_max], p_limit, p_lease => '30 s') where outcome not in ('window', 'quiet') $$;
create function pg_temp.settle(p_from bigint, p_to bigint) returns void language sql as $$
    delete from pgmq.q_core_events_shop where msg_id between p_from and p_to $$;
create temporary table c1 as select * from core_node.claim_batch('core_events_shop', '{a}', '{5}', 3, p_lease => '30 s');
select is((select string_agg(msg_id || '/' || read_ct, ' ' order by msg_id) from c1 where outcome = 'claimed'), '1/1 2/1 3/1', 'a batch is leased');
select ok(exists (select from c1 where outcome = 'quiet'), 'and nothing speaks against express');
select is((select count(*)::int from pgmq.q_core_events_shop where vt > core.now() + interval '29 s'), 3, 'hidden for the lease');

-- their process dies
update nexus_test.clock set shift = '31 s';
select is((select array_agg(outcome || coalesce(msg_id::text, '') order by outcome) from core_node.claim_batch('core_events_shop', '{a}', '{5}', 3, p_lease => '30 s', p_alone => false)
            where outcome in ('claimed', 'alone')), array['alone1'], 'whoever may not take one is told of the first');
select is(pg_temp.take(), 'alone=3 claimed1/2', 'one that was read and not answered goes alone');
select is(pg_temp.take(), 'alone=2 claimed2/2', 'the next one too');
select pg_temp.settle(1, 2);
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{3}', '{1}', pg_temp.ats('{3}'), '{retry}', '{0 s}', '{null}', '{error}', '{boom}'));
select is(pg_temp.take(p_limit => 2), 'claimed3/2 claimed4/1', 'one that was answered shares a batch again');
select pg_temp.settle(3, 4);

-- at their last attempt they share nothing, so that they are given up for nobody else's sake
update pgmq.q_core_events_shop set read_ct = 1, headers = '{"nexus-failures": 1}' where msg_id = 6;
select is(pg_temp.take(2), 'alone=1 claimed6/2', 'the last attempt is made alone');
select pg_temp.settle(6, 6);
select is(pg_temp.take(1, 1), 'claimed5/1', 'where there is only one attempt, batches are leased all the same');
select pg_temp.settle(5, 5);

-- a death in express
select core_node.open_express('core_events_shop', 'n1', 3, '{7,9}');
select is((select core_private.note_express_deaths('core_events_shop', 0)), 1::bigint, 'a mark without a transaction is a death');
select is((select core_private.note_express_deaths('core_events_shop', 0)), 0::bigint, 'noted once');
select is(pg_temp.take(), 'alone=3 claimed7/1', 'messages of that batch go alone, though they were never read');
select pg_temp.settle(7, 9);
select is(pg_temp.take(1), 'alone=1 claimed10/1', 'as does what has only one attempt, as long as it is not quiet');
select pg_temp.settle(10, 10);
select ok(not exists (select from core_node.claim_batch('core_events_shop', '{a}', '{5}', 3, p_lease => '30 s') where outcome = 'quiet'), 'no express');
update nexus_test.clock set shift = '5 min 20 s';
select ok(not exists (select from core_node.claim_batch('core_events_shop', '{a}', '{5}', 3, p_lease => '30 s') where outcome = 'quiet'), 'still none');
-- another one dies, this time under a lease
select core.emit('shop', 'a');
update pgmq.q_core_events_shop set read_ct = 1;
select is(pg_temp.take(), 'alone=1 claimed11/2', 'the suspect');
update nexus_test.clock set shift = '10 min 19 s';
select ok(not exists (select from core_node.claim_batch('core_events_shop', '{zzz}', '{5}', 3, p_lease => '30 s') where outcome = 'quiet'), 'that was not quiet');
update nexus_test.clock set shift = '10 min 21 s';
select ok(exists (select from core_node.claim_batch('core_events_shop', '{zzz}', '{5}', 3, p_lease => '30 s') where outcome = 'quiet'), 'five minutes later it is');

-- of many ids far apart only those that were in hand
select core.emit_batch('shop', array_fill('a'::text, array[30]), array_fill('1'::jsonb, array[30]));
select pg_temp.settle(1, 11);
select core_node.open_express('core_events_shop', 'n1', 3, '{13,41}');
select core_private.note_express_deaths('core_events_shop', 0);
select is(pg_temp.take(p_limit => 1), 'claimed12/1', 'one between them shares batches');
select is(pg_temp.take(p_limit => 1), 'alone=1 claimed13/1', 'those of the batch do not');
select is(pg_temp.take(p_limit => 5), 'claimed14/1 claimed15/1 claimed16/1 claimed17/1 claimed18/1', 'nor does it concern others');
