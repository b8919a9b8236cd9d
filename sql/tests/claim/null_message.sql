-- pgmq takes a message that is NULL: it is no envelope, and stops nothing
select core.create_namespace('shop');
select pgmq.send('core_events_shop'::text, null::jsonb);
select core.emit('shop', 'a');
select is((select array_agg(outcome order by outcome) from core_node.claim('core_events_shop', '{a}', '{3}', 10, '30 s')), array['buried', 'claimed', 'window'], 'it is buried, the next is claimed');
select is((select (reason, payload)::text from core.dead_letters), '("not an envelope",null)', 'with what it held');
select pgmq.send('core_events_shop'::text, null::jsonb);
select is((select array_agg(outcome order by outcome) from core_node.claim('core_events_shop', '{unknown.raw}', '{3}', 10, '30 s')), array['claimed', 'window'], 'whoever handles unknown.raw gets it');
select lives_ok($$select * from core.peek('core_events_shop')$$, 'it can be looked at');
select is((select done from core.replay_dead_letters('{"namespace": "shop"}')), 1, 'and replayed');
-- a pattern takes no message of another type, be that none
select pgmq.send('core_events_shop'::text, '7'::jsonb);
select is((select array_agg(outcome order by outcome) from core_node.claim('core_events_shop', '{order.*}', '{3}', 10, '30 s')), array['buried', 'buried', 'window'], 'what is no envelope is not of order.*');
select pgmq.send('core_events_shop'::text, '7'::jsonb);
select is((select array_agg(outcome order by outcome) from core_node.claim('core_events_shop', '{unknown.*}', '{3}', 10, '30 s')), array['claimed', 'window'], 'but of unknown.*');
