-- A message sent by hand may carry any headers. None of them stops the queue, and each ends in the ledger.
select core.create_namespace('shop');
select pgmq.send('core_events_shop'::text, '{"eventType": "a", "payload": 1}'::jsonb, h::jsonb)
  from unnest(array['"x"', '5', 'null', '[1]', '{"nexus-deferrals": "x"}', '{"nexus-deferrals": -5}', '{"nexus-deferrals": 99999999999999999999}',
                    '{"nexus-first-at": "never"}', '{"nexus-failures": [1]}', '{"nexus-round": 9999999999999999}', '{"nexus-replay-of": {}}', '{"nexus-due": 7}']) h;
select lives_ok($$select core.claim('core_events_shop', '{a}', '{3}', 100, '30 s')$$, 'claimed');
select lives_ok($$select core.settle('core_events_shop', 'n', '{}', '{}', array_agg(msg_id), array_agg(read_ct), array_agg(case msg_id % 2 when 0 then 'retry' else 'release' end),
    array_agg(interval '0'), array_agg(null::jsonb), array_agg('x'::text), array_agg('x'::text)) from pgmq.q_core_events_shop$$, 'retried and released');
select is((select count(*)::int from core.claim('core_events_shop', '{a}', '{3}', 100, '30 s') where outcome = 'claimed'), 12, 'claimed again');
select lives_ok($$select core.peek('core_events_shop')$$, 'looked at');
select lives_ok($$select * from core.queue_metrics$$, 'counted');
update nexus_test.clock set shift = '1 min';
select lives_ok($$select core.claim('core_events_shop', '{a}', '{2}', 100, '30 s')$$, 'the claim buries what died too often');
select lives_ok($$select core.settle('core_events_shop', 'n', '{}', '{}', array_agg(msg_id), array_agg(read_ct), array_agg('reject'::text),
    array_agg(null::interval), array_agg(null::jsonb), array_agg('x'::text), array_agg('x'::text)) from pgmq.q_core_events_shop$$, 'rejected');
select is((select count(*)::int from core.dead_letters), 12, 'all are in the ledger');
select is((select (matched, done)::text from core.replay_dead_letters('{"namespace": "shop"}')), '(12,12)', 'and can be replayed');
