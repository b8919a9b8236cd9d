-- A message by hand that is no envelope has the same word here as to its handler.
select core.create_namespace('shop');
select pgmq.send('core_events_shop', '{"by": "hand"}'::jsonb);
select is((select event_type from core.peek('core_events_shop')), 'unknown.raw', 'as claims and dead letters call it');
