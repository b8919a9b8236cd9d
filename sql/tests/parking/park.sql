-- D7: parked, pulled back as it was, counted
-- holds: D7, work
select core.create_namespace('shop');
select core.emit_batch('shop', '{a,b,c.d,a,b,c.d}', '{1,2,3,4,5,6}', array['{"headers": {"k": "v"}}', null, null, null, '{"headers": {"k": "v"}}', null]::jsonb[]);
create function pg_temp.park() returns text language sql as $$ select core_private.park_unhandled()::text $$;
create function pg_temp.where_are_they() returns text language sql as $$
  select (select coalesce(string_agg(msg_id::text, ',' order by msg_id), '-') from pgmq.q_core_events_shop) || ' | '
      || (select coalesce(string_agg(msg_id::text, ',' order by msg_id), '-') from core.parked) $$;
select pg_temp.park();
select is(pg_temp.where_are_they(), '1,2,3,4,5,6 | -', 'without a node nothing is parked');
create temporary table n1 as select * from core_node.register_node('shop', 'n1', true, '{a}');
-- b comes back once before: it has a history that must stay
select core_node.claim('core_events_shop', '{b}', '{0}', 1, '30 s', p_window => 100);
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{2}', '{1}', pg_temp.ats('{2}'), '{retry}', '{5 s}', '{null}', '{x}', '{x}'));
-- in flight elsewhere
select core_node.claim('core_events_shop', '{c.*}', '{0}', 1, '30 s', p_window => 100);
select pgmq.send('core_events_shop'::text, '"no envelope"'::jsonb);
create temporary table before as select * from pgmq.q_core_events_shop;
select is(pg_temp.park(), '{"buried": 0, "parked": 2, "removed": 0, "unparked": 0}', 'what is due and nobody handles is parked');
select is(pg_temp.where_are_they(), '1,2,3,4,7 | 5,6', 'but not what waits, is in flight, is handled or is no envelope');
update nexus_test.clock set shift = '31 s';
select pg_temp.park();
select is(pg_temp.where_are_they(), '1,4,7 | 2,3,5,6', 'then the others, once they are due');
select is((select array_agg((queue_name, event_type, namespace, event_id)::text order by msg_id) from core.parked),
  array['(core_events_shop,b,shop,2)', '(core_events_shop,c.d,shop,3)', '(core_events_shop,b,shop,5)', '(core_events_shop,c.d,shop,6)'], 'under its type');
select is((select (visible, waiting, parked)::text from core.queue_metrics where queue_name = 'core_events_shop'), '(3,0,4)', 'metrics count them');
select is((select string_agg(state, ',' order by msg_id) from core.peek('core_events_shop')), 'visible,parked,parked,visible,parked,parked,visible', 'peek shows them');
select is((select count(*)::int from core.peek('core_events_shop', 3)), 3, 'after what is on the queue');
select is((select array_agg((consumer, event_type, parked, handled, nodes_alive, given_up_in <= '1 h' and given_up_in > '59 min')::text order by event_type) from core.unhandled_types),
  array['(default,b,2,f,t,t)', '(default,c.d,2,f,t,t)'], 'and unhandled_types tells');
-- pulled back
select core_node.register_node('shop', 'n2', true, '{c.*,bb,aa.*}');
select is(pg_temp.where_are_they(), '1,3,4,6,7 | 2,5', 'a node that handles a type gets it back when it registers');
select core_node.register_node('shop', 'n3', true, '{b}');
select is(pg_temp.where_are_they(), '1,2,3,4,5,6,7 | -', 'an exact type too');
select is((select count(*)::int from before o join pgmq.q_core_events_shop q using (msg_id, read_ct, enqueued_at, message)
            where q.headers is not distinct from o.headers and q.last_read_at is not distinct from o.last_read_at), 7, 'each is what it was');
select is((select array_agg(read_ct order by msg_id) from core_node.claim('core_events_shop', '{b}', '{0}', 10, '30 s') where outcome = 'claimed'), array[2, 1], 'and no attempt is used');
select is(8::bigint, (select message_id from core.emit('shop', 'a')), 'ids go on');
-- batches
select core.emit_batch('shop', array_fill('z'::text, array[2500]), array_fill('1'::jsonb, array[2500]));
select is((core_private.park_unhandled(p_window => 1000)) ->> 'parked', (1000 - (select count(*) from pgmq.q_core_events_shop where message ->> 'eventType' <> 'z'))::text, 'a run looks at a bounded window');
select core_private.park_unhandled(p_window => 1000), core_private.park_unhandled(p_window => 1000);
select is((select count(*)::int from core.parked), 2500, 'and goes on from there');
create temporary table n4 as select * from core_node.register_node('shop', 'n4', true, '{z}');
select is((select count(*)::int from core.parked), 1500, 'registering moves a first batch');
select is(core_node.unpark('shop', 400), 400, 'the node asks for more');
select is((core_private.park_unhandled()) ->> 'unparked', '1100', 'and the sweep carries on');
select throws_ok($$select core_node.unpark('shop', 0)$$, 'NX006', null, 'within limits');
select core.emit('shop', 'y', '1') from generate_series(1, 3);
select core_private.park_unhandled(p_window => 1000) from generate_series(1, 3);
select is((select array_agg(distinct event_type) || count(*)::text from core.parked), '{y,3}', 'behind what is handled too');
select is(core_node.unpark('shop', 100), 0, 'nobody who lives handles it');
select is(core_node.unpark('shop', 2, '{x,y}'), 2, 'who handles it without registering says so');
select is(core_node.unpark('shop', 100, '{*}'), 1, 'by patterns');
select throws_ok($$select core_node.unpark('shop', 1, '{a*b}')$$, 'NX008', null, 'which are checked');
select throws_ok($$select core_node.unpark('shop', 1, array_fill('a'::text, array[2001]))$$, 'NX006', null, 'and not too many');
select core_private.park_unhandled(p_window => 1000) from generate_series(1, 3);
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX203', null, 'a namespace with parked messages is not dropped');
delete from pgmq.q_core_events_shop;
select throws_ok($$select core.drop_namespace('shop', 'shop')$$, 'NX203', null, 'even if nothing else is left');
select core.drop_namespace('shop', 'shop', true);
select is((select count(*)::int from core.parked), 0, 'unless forced');
