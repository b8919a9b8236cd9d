-- C3: altered patterns hold for what is emitted from then on
-- holds: C3
select core.create_namespace('shop');
select core.create_consumer('shop', 'mail', '{a.*}');
create function pg_temp.on_queue() returns text[] language sql as $$ select array_agg(message ->> 'eventType' order by msg_id) from pgmq.q_core_events_shop__mail $$;
select core.emit('shop', t) from unnest('{a.one,b.one}'::text[]) t;
select core.emit('shop', 'a.later', '{}', '{"delay": "1 h"}');
select is(core.alter_consumer('shop', 'mail', '{b.*}'), 0::bigint, 'altered');
select core.emit('shop', t) from unnest('{a.two,b.two}'::text[]) t;
select is(pg_temp.on_queue(), '{a.one,b.two}', 'what was queued stays, and the new ones hold');
select ok(not core.create_consumer('shop', 'mail', '{b.*}'), 'a repeated create knows them');
select throws_ok($$select core.create_consumer('shop', 'mail', '{a.*}')$$, 'NX212', null, 'and not the old ones');
select is((select consumer_generation from core.namespaces), 2::bigint, 'each change is a generation');
select is(core.alter_consumer('shop', 'mail', '{b.*}'), 0::bigint, 'the same again'), is((select consumer_generation from core.namespaces), 2::bigint, 'is none');
-- drop_unmatched
select core.alter_consumer('shop', 'mail', '{a.*,b.*,c.*}');
select core.emit('shop', t) from unnest('{c.leased,c.waits}'::text[]) t;
select is((select count(*)::int from core_node.claim('core_events_shop__mail', '{c.leased}', '{0}', 1, '30 s', p_window => 100) where outcome = 'claimed'), 1, 'one is in flight');
select pgmq.send('core_events_shop__mail', '{"raw": 1}');
insert into core_private.parking (queue_name, seen_at) values ('core_events_shop__mail', now());
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived) values ('core_events_shop__mail', 'c.parked', 77, 'shop', 0, now(), '{}', now(), '0'), ('core_events_shop__mail', 'b.parked', 78, 'shop', 0, now(), '{}', now(), '0');
select is(core.alter_consumer('shop', 'mail', '{b.*}', '{"drop_unmatched": true}'), 4::bigint, 'a.one, a.later, c.waits, c.parked');
select is(pg_temp.on_queue(), '{b.two,c.leased,null}', 'what a handler has stays, and what came by no pattern');
select is((select array_agg(event_type) from core.parked), '{b.parked}', 'of what is parked, too'), is((select count(*)::int from core.delayed where queue_name <> 'core_events_shop'), 0, 'and of what is delayed');
select throws_ok($$select core.alter_consumer('shop', 'default', '{a.*}')$$, 'NX006', null, 'default has none');
select throws_ok($$select core.alter_consumer('shop', 'nobody', '{a.*}')$$, 'NX102', null, 'no such consumer');
select throws_ok($$select core.alter_consumer('shop', 'mail', '{a b}')$$, 'NX008', null, 'no such pattern');
select throws_ok($$select core.alter_consumer('shop', 'mail', null, '{"drop_unmatched": 1}')$$, 'NX005', null, 'a switch');
