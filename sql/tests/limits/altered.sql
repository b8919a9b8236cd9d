-- C4: a limit that comes to claims of before it, and a delivery that is claimed twice
-- holds: C4
select core.create_namespace('shop');
update nexus_test.clock set frozen = clock_timestamp();
select core.alter_consumer('shop', 'default', null, '{"rate": "100/s"}');
select core.emit_batch('shop', array_fill('a'::text, array[20]), array_fill('1'::jsonb, array[20]));
create function pg_temp.claimed(p_limit integer, p_lease interval = '10 min') returns text language sql as $$
    select coalesce(string_agg(outcome || ' ' || case outcome when 'claimed' then msg_id::text else concat_ws(' ', read_ct, message #>> '{}') end, ', ' order by outcome, msg_id), '')
      from core_node.claim('core_events_shop', '{a}', '{0}', p_limit, p_lease, 1) where outcome <> 'window' $$;

select is(pg_temp.claimed(1), 'claimed 1', 'a rate alone notes what it gives out');
update nexus_test.clock set shift = '1 s';
select is(pg_temp.claimed(2), 'claimed 2, claimed 3', 'and the latest claim');
select core.alter_consumer('shop', 'default', null, '{"max_in_flight": 4}');
update nexus_test.clock set shift = '2 min';
select is(pg_temp.claimed(5), 'claimed 4, limited 1 max_in_flight', 'after a rest too what was claimed before the limit counts');
update nexus_test.clock set shift = '4 min';
select is(pg_temp.claimed(5), 'limited 0 max_in_flight', 'and goes on counting');

select core.alter_consumer('shop', 'default', null, '{"max_in_flight": 6, "rate": null}');
select is(pg_temp.claimed(1), 'claimed 5', 'one more');
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{5}', '{1}', pg_temp.ats('{5}'), '{release}', '{0 s}', '{null}', '{e}', '{e}'));
select is(pg_temp.claimed(1), 'claimed 5', 'which is released and claimed again');
select is((select in_flight from core.consumer_status where namespace = 'shop'), 5, 'and is in flight once');
select is(pg_temp.claimed(5), 'claimed 6, limited 1 max_in_flight', 'so that it takes one place');

-- a claim that waited for the last limit to be taken away
select core.alter_consumer('shop', 'default', null, '{"max_in_flight": null}');
select is(core_private.lock_limits((select consumer_id from core.consumers where namespace = 'shop')), false, 'without a limit there is nothing to lock');
select is((select count(*) from core_private.consumer_limits), 0::bigint, 'and no row is made');
