-- D1: a number or a boolean in eventType is no type, even where somebody handles a type that is spelt like it
-- holds: D1-types
select core.create_namespace('shop');
select pgmq.send('core_events_shop'::text, m) from unnest(array['{"eventType": true}', '{"eventType": 5}', '{"eventType": 1.50}', '{"eventType": {"a": 1}}', '{"eventType": "true"}', '{"eventType": "5"}', '{"eventType": "1.50"}']::jsonb[]) m;
create temporary table c as select * from core_node.claim('core_events_shop', '{true,5,1.50,"{\"a\": 1}"}', '{0,0,0,0}', 10, '30 s');
select is((select array_agg(msg_id order by msg_id) from c where outcome = 'claimed'), array[5, 6, 7]::bigint[], 'strings are types');
select is((select array_agg(msg_id order by msg_id) from c where outcome = 'buried'), array[1, 2, 3, 4]::bigint[], 'other values are none');
-- what no message can be of takes none either
select pgmq.send('core_events_shop'::text, '{"eventType": "a b"}'::jsonb);
select is((select array_agg(outcome order by outcome) from core_node.claim('core_events_shop', '{a b}', '{0}', 10, '30 s')), array['buried', 'window'], 'a type that cannot be has no messages');
-- nor in wide windows
delete from pgmq.q_core_events_shop;
select pgmq.send('core_events_shop'::text, m) from unnest(array['{"eventType": true}', '{"eventType": 5}', '{"eventType": "true"}', '{"eventType": "6"}', '{"eventType": "5"}', '{"eventType": "ok"}', '{}']::jsonb[]) m;
create temporary table w as select c.outcome, q.message from (select * from core_node.claim('core_events_shop', '{true,5}', '{0,0}', 10, '30 s', 1, 100) offset 0) c left join lateral (select c.message) q on true;
select is((select array_agg(message ->> 'eventType' order by message ->> 'eventType') from w where outcome = 'claimed'), array['5', 'true'], 'strings are types in wide windows too');
select is((select count(*)::int from w where outcome = 'buried'), 3, 'and other values none');
select is((select array_agg(message ->> 'eventType' order by msg_id) from pgmq.q_core_events_shop where vt <= core.now()), array['6', 'ok'], 'others stay');
