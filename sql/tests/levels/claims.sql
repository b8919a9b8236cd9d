-- Claims of a queue with levels: those that come first first, in one call; each level by its floor; what is left of levels that there were is met.
-- holds: levels
select core.create_namespace('shop');
select core.alter_consumer('shop', 'default', p_options => '{"levels": 3}');
update nexus_test.clock set frozen = '2030-01-01 00:00:10Z';
create function pg_temp.at(p_level int) returns bigint language sql as $$ select (p_level - 1) * 1000000000000000 $$;
create function pg_temp.claim(p_limit int, p_floors bigint[], p_window int = null, p_sweep boolean = false) returns text language sql as $$
  select string_agg(case outcome when 'claimed' then message ->> 'payload' when 'level' then 'looked ' || read_ct when 'window' then 'of ' || headers::text else outcome || ' ' || read_ct end,
                    ', ' order by outcome, msg_id, scanned_to)
    from core_node.claim('core_events_shop', '{*}', '{0}', p_limit, '1 minute', 0, p_window, p_sweep, true, p_floors) $$;
select core.emit('shop', 'a.b', to_jsonb('p' || p || 'n' || n), jsonb_build_object('priority', p)) from generate_series(1, 3) n, unnest('{3,2,1}'::int[]) p;
select is(pg_temp.claim(2, array[0, pg_temp.at(2), pg_temp.at(3)]), 'p1n1, p1n2, looked 2, of 3', 'the first level first, and no look at others');
select is(pg_temp.claim(2, array[0, pg_temp.at(2), pg_temp.at(3)]), 'p1n3, p2n1, looked 1, looked 2, of 3', 'then the next, in the same call');
select is(pg_temp.claim(2, array[pg_temp.at(3), 0, pg_temp.at(2)]), 'p3n1, p3n2, looked 2, of 3', 'it may begin with a lower one');
select is(pg_temp.claim(9, array[pg_temp.at(3) + 1000, pg_temp.at(2), 0]), 'p2n2, p2n3, looked 2, looked 0, looked 0, of 3', 'each goes by its floor');
select is(pg_temp.claim(9, array[0, pg_temp.at(2)]), 'p3n3, looked 1, looked 0, of 3', 'the last that is named has no end');
select core.emit('shop', 'a.b', to_jsonb('p' || p), jsonb_build_object('priority', p)) from unnest('{3,2}'::int[]) p;
select is(pg_temp.claim(1, array[pg_temp.at(2) + 1000, 0, pg_temp.at(3)]), 'p3, looked 1, looked 0, looked 0, of 3', 'a level ends where the next one begins');
select is(pg_temp.claim(1, array[pg_temp.at(2), 0, pg_temp.at(3)], 1, true), 'p2, looked 1, of 3', 'from where it begins');
select is(pg_temp.claim(1, null, 1, true), 'of 3', 'the window says how many there are');
select is(pg_temp.claim(1, array[0, pg_temp.at(2)]), 'looked 0, looked 0, of 3', 'also where others are given');

-- Leases that have run out are suspects, of which a claim takes one.
update nexus_test.clock set frozen = '2030-01-01 00:02:00Z';
select is(pg_temp.claim(4, array[0, pg_temp.at(2), pg_temp.at(3)]), 'alone 4, p1n1, looked 3, looked 2, of 3', 'the first of all, and how many are left');

-- Batches.
select core.create_consumer('shop', 'b', '{*}', '{"levels": 2}');
select core.emit('shop', 'a.b', to_jsonb('p' || p || 'n' || n), jsonb_build_object('priority', p)) from generate_series(1, 3) n, unnest('{2,1}'::int[]) p;
create function pg_temp.batch(p_limit int, p_floors bigint[], p_least int = 1) returns text language sql as $$
  select string_agg(case outcome when 'claimed' then message ->> 'payload' when 'level' then 'looked ' || read_ct when 'window' then 'of ' || headers::text else outcome || ' ' || read_ct end,
                    ', ' order by outcome, msg_id, scanned_to)
    from core_node.claim_batch('core_events_shop__b', '{*}', '{0}', p_limit, p_least, p_key => 1, p_within => '1 min', p_floors => p_floors) $$;
select is(pg_temp.batch(4, array[0, pg_temp.at(2)]), 'p1n1, p1n2, p1n3, p2n1, looked 3, looked 2, of 2', 'a batch goes over levels');
select is(pg_temp.batch(2, array[pg_temp.at(2), 0]), 'p2n1, p2n2, looked 2, of 2', 'or begins with a lower one');
select is(pg_temp.batch(9, array[0, pg_temp.at(2)], 7), 'few 6, looked 3, looked 3, of 2', 'what there is counts over levels');
select throws_ok(format($$select * from core_node.claim('core_events_shop', '{*}', '{0}', 1, '1 minute', p_floors => %L)$$, f), 'NX006', 'p_floors is not one floor for each of up to four levels', 'refused: ' || f)
  from unnest(array['{}', '{0,5}', '{-1}', '{NULL}', '{0,1000000000000000,2000000000000000,3000000000000000,4000000000000000}', '{{0,1000000000000000}}']) f;

-- A retry stays in its level, wherever it waits.
select core.create_consumer('shop', 'r', '{*}', '{"levels": 2}');
select core.emit('shop', 'a.b', '"late"', '{"priority": 2}');
with c as materialized (
  select * from core_node.claim('core_events_shop__r', '{*}', '{0}', 9, '1 minute', p_floors => array[0, pg_temp.at(2)]) c where c.outcome = 'claimed')
select is(s.outcome, 'retried', 'it is put off')
  from c, core_node.settle('core_events_shop__r', 'n', '{}', '{}', '{}', jsonb_build_array(jsonb_build_object(
    'id', c.msg_id, 'ct', c.read_ct, 'at', c.last_read_at, 'action', 'retry', 'after', '10 minutes', 'reason', 'x', 'error', 'x'))) s;
select core_private.set_aside();
select is((select count(*)::int from core.delayed), 1, 'set aside');
update nexus_test.clock set frozen = '2030-01-01 01:00:00Z';
select core_node.promote_delayed();
select is((select array_agg(msg_id - pg_temp.at(2) < 1000 and msg_id > pg_temp.at(2)) from pgmq.q_core_events_shop__r), '{t}', 'back in its level');
select core.emit('shop', 'a.b', '"now"');
select is((select oldest_msg_age_seconds || ' ' || newest_msg_age_seconds from core.queue_metrics where queue_name = 'core_events_shop__r'), '3480 0', 'the ages are those of all levels');
