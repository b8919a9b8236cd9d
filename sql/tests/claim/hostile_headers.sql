-- A message sent by hand may carry any headers. None of them stops the queue, and each ends in the ledger.
select core.create_namespace('shop');
select pgmq.send('core_events_shop'::text, '{"eventType": "a", "payload": 1}'::jsonb, h::jsonb)
  from unnest(array['"x"', '5', 'null', '[1]', '{"nexus-deferrals": "x"}', '{"nexus-deferrals": -5}', '{"nexus-deferrals": 99999999999999999999}', '{"nexus-deferrals": 9999999999999999}',
                    '{"nexus-first-at": "never"}', '{"nexus-failures": [1]}', '{"nexus-round": 9999999999999999}', '{"nexus-replay-of": {}}', '{"nexus-due": 7}']) h;
select lives_ok($$select core_node.claim('core_events_shop', '{a}', '{3}', 100, '30 s')$$, 'claimed');
select lives_ok($$select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array_agg(msg_id), array_agg(read_ct), array_agg(last_read_at), array_agg(case msg_id % 2 when 0 then 'retry' else 'release' end), array_agg(interval '0'), array_agg(null::jsonb), array_agg('x'::text), array_agg('x'::text))) from pgmq.q_core_events_shop$$, 'retried and released');
select is((select count(*)::int from core_node.claim('core_events_shop', '{a}', '{3}', 100, '30 s') where outcome = 'claimed'), 13, 'claimed again');
select lives_ok($$select core.peek('core_events_shop')$$, 'looked at');
select lives_ok($$select * from core.queue_metrics$$, 'counted');
update nexus_test.clock set shift = '1 min';
select lives_ok($$select core_node.claim('core_events_shop', '{a}', '{2}', 100, '30 s')$$, 'the claim buries what died too often');
select lives_ok($$select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array_agg(msg_id), array_agg(read_ct), array_agg(last_read_at), array_agg('reject'::text), array_agg(null::interval), array_agg(null::jsonb), array_agg('x'::text), array_agg('x'::text))) from pgmq.q_core_events_shop$$, 'rejected');
select is((select count(*)::int from core.dead_letters), 13, 'all are in the ledger');
select is((select (matched, done)::text from core.replay_dead_letters('{"namespace": "shop"}')), '(13,13)', 'and can be replayed');
-- no count of deferrals makes a message immortal
select core.create_namespace('other');
select pgmq.send('core_events_other'::text, '{"eventType": "a"}'::jsonb, h::jsonb) from unnest(array['{"nexus-deferrals": 9999999999999999}', '{"nexus-deferrals": 2}']) h;
create function pg_temp.fail_all(p_shift text) returns text language plpgsql as $$
begin
  update nexus_test.clock set shift = p_shift::interval;
  return (select string_agg(s.outcome, ',' order by s.msg_id) from (select array_agg(c.msg_id) as ids, array_agg(c.read_ct) as cts, array_agg(c.last_read_at) as ats, count(*)::integer as n from core_node.claim('core_events_other', '{a}', '{3}', 10, '30 s') c where c.outcome = 'claimed') c
    cross join lateral core_node.settle('core_events_other', 'n', '{}', '{}', '{}', pg_temp.failed(c.ids, c.cts, c.ats, array_fill('retry'::text, array[c.n]), array_fill(interval '0', array[c.n]), array_fill('{"max_attempts": 3}'::jsonb, array[c.n]), array_fill('x'::text, array[c.n]), array_fill('x'::text, array[c.n]))) s);
end $$;
select is(array[pg_temp.fail_all('1 h'), pg_temp.fail_all('2 h'), pg_temp.fail_all('3 h')], array['retried,retried', 'retried,retried', 'buried,retried'], 'more than the reads count for nothing');
select is(array[pg_temp.fail_all('4 h'), pg_temp.fail_all('5 h')], array['retried', 'buried'], 'as many as the reads once');
