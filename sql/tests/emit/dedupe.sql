-- E2 within one session; races are in Go
select core.create_namespace('shop', '{"dedupe_for": "1 day"}');
create temporary table a as select * from core.emit('shop', 'x', '1', '{"dedupe_key": "k"}');
create temporary table b as select * from core.emit('shop', 'y', '2', '{"dedupe_key": "k"}');
select is((select (event_id, event_uid, duplicate) from b)::text, (select (event_id, event_uid, true) from a)::text, 'the second gets the ids of the first');
select is((select count(*)::int from core.event_log), 1, 'one event');
update nexus_test.clock set shift = '25 h';
select ok(not (select duplicate from core.emit('shop', 'x', '1', '{"dedupe_key": "k"}')), 'an expired key is free, swept or not');
update nexus_test.clock set shift = '50 h';
select is(core_private.expire_keys(), 1, 'expired keys are swept');
