-- a replay spread over time: 10 a second are due 100 ms apart
-- holds: L4-rate
select core.create_namespace('shop');
update nexus_test.clock set frozen = '2030-01-01T00:00:00Z', shift = '0';
select core.emit_batch('shop', '{a,a,a,a}', '{1,2,3,4}');
select core_node.claim('core_events_shop', '{*}', '{0}', 10, '30 s');
select core_private.bury('core_events_shop', 'n', '{1,2,3,4}', '{1,1,1,1}', '{r,r,r,r}', '{e,e,e,e}');
select is((select (matched, done)::text from core.replay_dead_letters('{"namespace": "shop", "limit": 3}', '{"rate": 10}')), '(3,3)', 'three replayed');
select is((select count(*)::int from pgmq.q_core_events_shop), 1, 'the first at once');
select is((select array_agg(due_at - core.now() order by due_at) from core.delayed), '{100 ms,200 ms}'::interval[], 'the others one after another');
select is((select array_agg(message ->> 'payload' order by due_at) from core.delayed), '{2,3}', 'oldest first');
select is((select array_agg(replay_msg_id is null order by dead_letter_id) from core.dead_letters where resolution = 'replayed'), '{f,t,t}', 'the ledger knows the message, where there is one');
select is((select done from core.replay_dead_letters('{"namespace": "shop"}', '{"rate": 10, "delay": "300 ms"}')), 1, 'the next batch');
select is((select max(due_at) - core.now() from core.delayed), interval '300 ms', 'goes on where the first ended');
update nexus_test.clock set shift = '250 ms';
select is(core_node.promote_delayed(), 2, 'two have become due');
select is((select string_agg(headers ->> 'nexus-round', '' order by msg_id) from pgmq.q_core_events_shop), '111', 'in their next round');
select throws_ok(format('select core.replay_dead_letters(''{"namespace": "shop"}'', %L)', o), 'NX005', null, o)
  from unnest(array['{"rate": 0}', '{"rate": "x"}', '{"rate": 1e9}', '{"delay": 3}', '{"delay": "-1 s"}', '{"delay": "31 days"}']) o;
-- a rate that would take months
insert into core.dead_letters (namespace, consumer, source_kind, source_ref, payload, attempts, failed_at, reason)
select 'shop', 'default', 'delivery', to_jsonb(g), '1', 1, core.now(), 'many' from generate_series(1, 3000) g;
select throws_ok($$select core.replay_dead_letters('{"reason": "many", "limit": 3000}', '{"rate": 0.001}')$$, 'NX005', null, 'too slow');
