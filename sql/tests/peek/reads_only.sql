-- P2
-- holds: P2-peek
select core.create_namespace('shop');
select core.emit_batch('shop', '{a,a,b,c}', '{1,2,3,4}');
select core_node.claim('core_events_shop', '{a}', '{0}', 1, '10 min');
select core_node.claim('core_events_shop', '{b}', '{0}', 10, '10 min');
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{3}', '{1}', pg_temp.ats('{3}'), '{release}', '{1 h}', '{null}', '{}'::text[] || ''::text, '{}'::text[] || ''::text));
create temporary table before as select * from pgmq.q_core_events_shop;
select is((select array_agg(msg_id || state order by msg_id) from core.peek('core_events_shop')), array['1in_flight', '2visible', '3waiting', '4visible'], 'states, in order');
select is((select count(*)::int from pgmq.q_core_events_shop q join before b on q = b), 4, 'no read_ct, no vt, nothing has changed');
select is((select array_agg(msg_id) from core.peek('core_events_shop', 2)), array[1, 2]::bigint[], 'as many as asked for');
select is((select event_type from core.peek('core_events_shop', 1)), 'a', 'with its type');
select throws_ok(format('select core.peek(''core_events_shop'', %s)', n), 'NX006', null, 'not ' || n) from unnest(array['0', '1001', 'null', '-1']) n;
select throws_ok($$select core.peek('pg_class')$$, 'NX103', null, 'only registered queues');
