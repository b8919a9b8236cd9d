-- One look serves all who ask, for a while; it is of one namespace.
-- holds: metrics, metrics-counts
update nexus_test.clock set frozen = clock_timestamp();
update core_private.sweeps set last_ok_at = null where name = (select min(name) from core_private.sweeps where enabled); -- one that never ran, before the sample is taken
select core.create_namespace('shop');
select core.create_namespace('other');
select core.emit_batch('shop', '{a,a,b}', '{1,2,3}');
select core.emit('shop', 'd', '5', '{"delay": "1 h"}');
select core.emit('other', 'a');
select core_node.claim('core_events_shop', '{a}', '{0}', 1, '10 min');
select core_node.claim('core_events_shop', '{b}', '{0}', 10, '10 min');
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{3}', '{1}', pg_temp.ats('{3}'), '{reject}', '{null}', '{null}', '{x}', '{x}'));
select core.claim_dead_letters('{"namespace": "shop"}');
update pgmq.q_core_events_shop set enqueued_at = core.now() - interval '40 s';
select is(core_node.metrics_sample('shop') -> 'queues',
    '[{"consumer": "default", "visible": 1, "in_flight": 1, "waiting": 0, "delayed": 1, "parked": 0, "oldest_seconds": 40}]'::jsonb,
    'a row a consumer, without the dead-letter queue');
select is((core_node.metrics_sample('shop') ->> 'dead_letters')::int, 1, 'unresolved dead letters');
select is((core_node.metrics_sample('other') ->> 'dead_letters')::int, 0, 'of one namespace');
select is((core_node.metrics_sample('shop') ->> 'dead_letters_claimed')::int, 1, 'claimed ones');
select is((select count(*) from jsonb_array_elements(core_node.metrics_sample('shop') -> 'sweeps'))::int,
    (select count(*)::int from core_private.sweeps where enabled), 'the sweeps');
select is((select count(*)::int from jsonb_array_elements(core_node.metrics_sample('shop') -> 'sweeps') s
            where coalesce((s ->> 'age_seconds')::numeric < 0 or (s ->> 'every_seconds')::numeric <= 0, true)), 0, 'each has an age all the same, and an interval');
select core.emit('shop', 'a');
update nexus_test.clock set shift = '14 s';
select is((core_node.metrics_sample('shop') #>> '{queues,0,visible}')::int, 1, 'nobody counts again within p_max_age');
select is((core_node.metrics_sample('shop') ->> 'age_seconds')::numeric(9, 0), 14::numeric, 'and the sample says how old it is');
update nexus_test.clock set shift = '15 s';
select is((core_node.metrics_sample('shop') #>> '{queues,0,visible}')::int, 2, 'then whoever asks first does');
select is((core_node.metrics_sample('shop') ->> 'age_seconds')::numeric(9, 0), 0::numeric, 'and that one is new');
select throws_ok($$select core_node.metrics_sample('shop', '0 s')$$, 'NX006');
select throws_ok($$select core_node.metrics_sample('nowhere')$$, 'NX101');
