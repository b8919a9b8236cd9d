-- L1 to L4
-- holds: L1, L2, L3, L4
alter table core.dead_letters alter column dead_letter_id restart;
select core.create_namespace('shop');
select core.emit('shop', 'a', '{"v": 1}', '{"headers": {"h": "1"}, "ordering_key": "o"}');
create function pg_temp.bury() returns void language sql as $$
  select core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s');
  select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed(array_agg(msg_id), array_agg(read_ct), array_agg(last_read_at), array_agg('reject'::text), array_agg(null::interval), array_agg(null::jsonb), array_agg('bad'::text), array_agg('why'::text))) from pgmq.q_core_events_shop;
$$;
select pg_temp.bury();
select is((select (status, attempts, reason, last_error, ordering_key, round)::text from core.dead_letters), '(pending,1,bad,why,o,0)', 'the ledger');
select is((select message - 'failedAt' from pgmq.q_core_events_shop_dlq q join core.dead_letters l on l.dlq_msg_id = q.msg_id) - 'originalEvent', '{"reason": "bad", "error": "why"}'::jsonb, 'the copy');
select is((select count(*)::int from pgmq.q_core_events_shop), 0, 'the original is gone');
select is((select (matched, done, skipped)::text from core.replay_dead_letters('{"namespace": "shop"}', '{"dry_run": true}')), '(1,1,0)', 'a dry run counts');
select is((select count(*)::int from core.unresolved_dead_letters) + (select count(*)::int from pgmq.q_core_events_shop_dlq), 2, 'and leaves all as it was');
select isnt(core.replay_dead_letter(1), null, 'replayed');
select is((select enqueued_at from pgmq.q_core_events_shop), (select vt from pgmq.q_core_events_shop), 'its age begins anew, by the clock of Nexus');
select throws_ok($$select core.replay_dead_letter(1)$$, 'NX205', null, 'once');
select is((select count(*)::int from pgmq.q_core_events_shop_dlq), 0, 'the copy goes with it');
select is((select (message -> 'payload', headers -> 'h', headers -> 'nexus-round', read_ct)::text from pgmq.q_core_events_shop), (row('{"v": 1}'::jsonb, '"1"'::jsonb, '1'::jsonb, 0))::text, 'payload and headers stay, attempts start afresh');
select is((select message ->> 'orderingKey' from pgmq.q_core_events_shop), 'o', 'and so does the ordering key');
select pg_temp.bury();
select is((select (round, replay_of, replay_count, status)::text from core.dead_letters order by dead_letter_id desc limit 1), '(1,1,1,pending)', 'buried again: the next round');
delete from pgmq.q_core_events_shop_dlq;
select is((select (matched, done)::text from core.replay_dead_letters('{"ids": [2]}', '{"payload": {"v": 2}}')), '(1,1)', 'with an edited payload, and a missing copy is no error');
select is((select message -> 'payload' from pgmq.q_core_events_shop), '{"v": 2}'::jsonb, 'the edited payload');
select is((select payload from core.dead_letters where dead_letter_id = 2), '{"v": 1}'::jsonb, 'the original is kept');
select pg_temp.bury();
select throws_ok($$select core.discard_dead_letter(3, ' ')$$, 'NX006', null, 'a discard wants a reason');
select lives_ok($$select core.discard_dead_letter(3, 'no use')$$, 'discarded');
select is((select (resolution, resolved_reason, resolved_by)::text from core.dead_letters where dead_letter_id = 3), format('(discarded,"no use",%s)', session_user), 'who and why');
select throws_ok($$select core.replay_dead_letter(99)$$, 'NX105', null, 'unknown');
select throws_ok(format('select core.replay_dead_letters(%L)', f), c, null, c || ' for ' || f)
  from (values ('{}', 'NX009'), ('{"limit": 3}', 'NX009'), ('{"nope": 1}', 'NX004'), ('{"ids": 3}', 'NX009'), ('{"type": "a*"}', 'NX008'), ('{"before": "now"}', 'NX005'), ('{"namespace": "nowhere"}', 'NX101')) v(f, c);
select is((select count(*)::int from core.dead_letter_groups), 0, 'no group is unresolved');
