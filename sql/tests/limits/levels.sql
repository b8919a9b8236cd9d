-- C4: a limit bounds a consumer over all its levels
-- holds: C4
update nexus_test.clock set frozen = clock_timestamp();
select core.create_namespace('shop');
select core.alter_consumer('shop', 'default', null, '{"levels": 2, "max_in_flight": 3}');
select core.emit('shop', 'a', '{}', '{"priority": 2}'), core.emit('shop', 'a', '{}', '{"priority": 2}');
select core.emit('shop', 'a'), core.emit('shop', 'a');
create function pg_temp.claimed() returns text language sql as $$
    select coalesce(string_agg(outcome || ' ' || case outcome when 'claimed' then (msg_id / 1000000000000000 + 1) || ' ' || msg_id % 1000000000000000 else concat_ws(' ', read_ct, message #>> '{}') end, ', ' order by outcome, msg_id), '')
      from core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s', p_floors => '{0,1000000000000000}') where outcome not in ('window', 'level') $$;
select matches(pg_temp.claimed(), '^claimed 1 \d, claimed 1 \d, claimed 2 \d, limited 3 max_in_flight$', 'of both levels no more than there is room for');
select is(pg_temp.claimed(), 'limited 0 max_in_flight', 'then nothing of either');
select is((select in_flight from core.consumer_status where namespace = 'shop'), 3, 'the status counts both');
select core_node.settle('core_events_shop', 'n', q.ids, q.cts, q.ats)
  from (select array_agg(msg_id) as ids, array_agg(read_ct) as cts, array_agg(last_read_at) as ats from pgmq.q_core_events_shop where read_ct = 1 and msg_id > 1000000000000000) q;
select matches(pg_temp.claimed(), '^claimed 2 \d', 'what is settled of one level makes room for it again');
