-- C3: paused, it goes on being delivered to and nobody is given any
-- holds: C3
select core.create_namespace('shop');
select core.create_consumer('shop', 'mail', '{a.*}');
create function pg_temp.claimed() returns int language sql as $$ select count(*)::int from core_node.claim('core_events_shop__mail', '{*}', '{0}', 10, '30 s') where outcome = 'claimed' $$;
create function pg_temp.express() returns int language sql as $$ select count(*)::int from core_node.claim_batch('core_events_shop__mail', '{*}', '{0}', 10, 1, p_key => 7, p_within => '5 s') where outcome = 'claimed' $$;
select core.emit('shop', 'a.b'), core.emit('shop', 'a.b');
select is((select count(*)::int from core_node.claim('core_events_shop__mail', '{*}', '{0}', 1, '30 s') where outcome = 'claimed'), 1, 'one is in hand');
select ok(core.pause_consumer('shop', 'mail'), 'paused'), ok(not core.pause_consumer('shop', 'mail'), 'once');
select is(pg_temp.claimed(), 0, 'no leases'), is(pg_temp.express(), 0, 'nor express');
select lives_ok(format('select core.ack(''shop'', ''mail'', %s, %s, %L)', msg_id, read_ct, last_read_at), 'who runs may end') from pgmq.q_core_events_shop__mail where read_ct = 1;
select core.emit('shop', 'a.b');
select is((select count(*)::int from pgmq.q_core_events_shop__mail), 2, 'emits go on'), is((select count(*)::int from core_node.claim('core_events_shop', '{*}', '{0}', 10, '30 s') where outcome = 'claimed'), 3, 'and so do other consumers');
select ok(core.resume_consumer('shop', 'mail'), 'resumed'), ok(not core.resume_consumer('shop', 'mail'), 'once');
select is(pg_temp.claimed(), 2, 'and given');
select ok(core.pause_consumer('shop', 'default'), 'default can be paused, too');
select throws_ok(format('select core.%s_consumer(''shop'', ''nobody'')', a), 'NX102', null, a) from unnest('{pause,resume}'::text[]) a;
