-- D4, D5: attempts = read_ct - deferrals; the policy nearest to the handler counts; a retry whose attempts are used up is buried
-- holds: D4, D5, D6, L1, L2
select core.create_namespace('shop', '{"retry": {"max_attempts": 3, "shape": "constant", "base": "10 s", "jitter": 0}}');
select core.emit('shop', 'a', '{"v": 1}');
create function pg_temp.take(max integer = 0) returns integer language sql as $$ select read_ct from core_node.claim('core_events_shop', '{a}', array[max], 1, '30 s') where outcome = 'claimed' $$;
create function pg_temp.give(action text, after interval = null, policy jsonb = null, ct integer = null) returns text language sql as
  $$ select outcome || coalesce(' ' || round(extract(epoch from due_at - core.now()))::text, '')
       from core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{1}', array[coalesce(ct, (select read_ct from pgmq.q_core_events_shop where msg_id = 1))], pg_temp.ats('{1}'), array[action], array[after], array[policy], '{why}', '{boom}')) $$;
create function pg_temp.pass() returns void language sql as $$ update nexus_test.clock set frozen = coalesce(frozen, clock_timestamp()) + interval '1 day' $$;
select pg_temp.pass();
select pg_temp.take();
select is(pg_temp.give('release', '5 s'), 'released 5', 'a release waits as long as it says');
select pg_temp.pass(), pg_temp.take();
select is(pg_temp.give('retry'), 'retried 10', 'the namespace''s policy');
select is((select (headers ->> 'nexus-failures', headers ->> 'nexus-deferrals')::text from pgmq.q_core_events_shop), '(1,1)', 'failures and deferrals are counted apart');
select pg_temp.pass(), pg_temp.take();
update core.consumers set retry = '{"base": "20 s"}';
select is(pg_temp.give('retry'), 'retried 20', 'the consumer''s policy goes before the namespace''s');
select is((select headers ->> 'nexus-failures' from pgmq.q_core_events_shop), '2', 'and the second failure is one more');
select pg_temp.pass();
select is(pg_temp.take(), 4, 'read_ct only rises');
select is(pg_temp.give('retry', null, '{"max_attempts": 4, "base": "30 s"}'), 'retried 30', 'the handler''s before both');
select pg_temp.pass(), pg_temp.take(4);
select is(pg_temp.give('retry', '29 days', '{"max_attempts": -1, "max": "1 s"}'), 'retried 2505600', 'an explicit time is exact, whatever the policy''s maximum; -1 never gives up');
update nexus_test.clock set frozen = frozen + interval '40 days';
select pg_temp.take(-1);
select is(pg_temp.give('retry', '0 s'), 'buried', 'used up: buried, also with an explicit time');
select is((select (attempts, reason, last_error, first_attempt_at < last_attempt_at, msg_id)::text from core.dead_letters), '(5,why,boom,t,1)', 'five attempts in six deliveries, one of them released');
select is((select q.message from pgmq.q_core_events_shop_dlq q join core.dead_letters l on l.dlq_msg_id = q.msg_id) #>> '{originalEvent,payload,v}', '1', 'the copy is the one the ledger names');
select is((select count(*)::int from pgmq.q_core_events_shop), 0, 'the original is gone');
select is((select array_agg(attempt || action order by error_id) from core.delivery_errors), array['1retry', '2retry', '3retry', '4retry', '5bury'], 'one row of history a failed attempt, none for a release');
select is(pg_temp.give('retry', null, null, 6), 'gone', 'settled again: gone');
select throws_ok($$select pg_temp.give('retry', null, '{"nope": 1}', 1)$$, 'NX007', null, 'policies are checked');
select throws_ok($$select pg_temp.give('retry', '-1 s', null, 1)$$, 'NX005', null, 'no retry in the past');
select throws_ok($$select pg_temp.give('release', null, null, 1)$$, 'NX005', null, 'a release says until when');
