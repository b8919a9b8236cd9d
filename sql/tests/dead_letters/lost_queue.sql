-- While a dead-letter queue is missing nothing is buried, and nobody is kept from his events; while a queue is missing nothing is replayed to it.
-- holds: NS1-lost-queues
select core.create_namespace('shop'), core.create_namespace('other');
select core.emit(ns, 'x', to_jsonb(g)) from generate_series(1, 3) g, unnest('{shop,other}'::text[]) ns;
select core_private.bury('core_events_shop', 'n', '{1}', '{0}', '{r}', '{e}'), core_private.bury('core_events_other', 'n', '{1}', '{0}', '{r}', '{e}');
drop table pgmq.q_core_events_shop_dlq;
select throws_ok($$select core_private.bury('core_events_shop', 'n', '{2}', '{0}', '{r}', '{e}')$$, 'NX110', null, 'bury says so');
select is((select count(*)::int from pgmq.q_core_events_shop), 2, 'and leaves the event');
update pgmq.q_core_events_shop set message = '7' where msg_id = 2;
select is((select array_agg(outcome || ' ' || coalesce(msg_id, 0) order by outcome) from core_node.claim('core_events_shop', '{x}', '{0}', 10, '30 s')), '{"claimed 3","window 0"}', 'what can''t be buried is put off, the others are delivered');
select throws_ok($$select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{3}', '{1}', pg_temp.ats('{3}'), '{reject}', '{null}', '{null}', '{x}', '{x}'))$$, 'NX110', null, 'a rejection has to wait');
select lives_ok($$select core.discard_dead_letter(1, 'no use')$$, 'one that is dead already can be discarded');
select ok(core.create_namespace('shop'), 'made again');
select results_eq($$select outcome from core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{3}', '{1}', pg_temp.ats('{3}'), '{reject}', '{null}', '{null}', '{x}', '{x}'))$$, $$values ('buried')$$, 'then it is buried');

drop table pgmq.q_core_events_other;
create temporary table d as select dead_letter_id as id from core.dead_letters where namespace = 'other';
select throws_ok(format('select core.replay_dead_letter(%s)', id), 'NX110', $$queue tables of namespace 'other' are missing$$, 'a replay says so') from d;
select is((select (matched, done, skipped, skips #>> '{0,why}')::text from core.replay_dead_letters('{"source": "delivery"}')), '(2,1,1,"the table of queue core_events_other is missing")', 'of many, the others are replayed');
select core.create_namespace('other');
select lives_ok(format('select core.replay_dead_letter(%s)', id), 'made again: it is replayed') from d;
