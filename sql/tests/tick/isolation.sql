-- I4
-- holds: I4, others-upkeep
update nexus_test.clock set frozen = clock_timestamp();
update core_private.sweeps set last_started_at = null;
select core_private.register_sweep('bad', '1 / 0', '1 second', 'tick', 5);
create temporary table t as select core.tick() as r;
select is((select array_agg(e ->> 'sweep') from t, jsonb_array_elements(r -> 'ran') e where e ->> 'sweep' in ('bad', 'promote', 'reap', 'expire_keys')), array['bad', 'promote', 'reap', 'expire_keys'], 'all that were due ran, in order');
select matches((select last_error from core.sweep_status where name = 'bad'), '^22012', 'the bad one is recorded');
select is((select count(*)::int from core.sweep_status where name <> 'bad' and last_error is not null), 0, 'and left the others alone');
select is(core.tick() -> 'ran', '[]', 'not due: not run again');
update nexus_test.clock set shift = '11 s';
select is((select array_agg(e ->> 'sweep') from jsonb_array_elements(core.tick() -> 'ran') e), array['bad', 'promote', 'fire', 'tasks', 'reap', 'express', 'backfills', 'left_queues', 'workflows', 'set_aside', 'kv', 'requests', 'park', 'lanes'], 'when due: again');
select throws_ok($$select core.run_sweep('nope')$$, 'NX106', null, 'unknown');
