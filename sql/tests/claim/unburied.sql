-- A burial that fails holds up no delivery: it is put off
select core.create_namespace('shop');
select pgmq.send('core_events_shop'::text, '7'::jsonb);
select core.emit('shop', 'a');
alter table core.dead_letters add constraint none check (false) not valid;
select is((select array_agg(outcome order by outcome) from core_node.claim('core_events_shop', '{a}', '{3}', 10, '30 s')), array['claimed', 'window'], 'the other is claimed');
select is((select vt - core.now() from pgmq.q_core_events_shop where msg_id = 1) between interval '50 s' and interval '1 min', true, 'and this one comes again in a minute');
alter table core.dead_letters drop constraint none;
update nexus_test.clock set shift = '2 min';
select is((select array_agg(outcome order by outcome) from core_node.claim('core_events_shop', '{b}', '{3}', 10, '30 s')), array['buried', 'window'], 'then it is buried');
-- a read_ct set by hand
select core.emit('shop', 'b');
update pgmq.q_core_events_shop set read_ct = 2147483647 where message ->> 'eventType' = 'b';
select is((select array_agg(outcome order by outcome) from core_node.claim('core_events_shop', '{b}', '{-1}', 10, '30 s')), array['buried', 'window'], 'a count that can rise no more ends the message');
