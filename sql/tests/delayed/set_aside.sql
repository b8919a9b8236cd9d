-- D8: what waits long waits apart, and comes back as it was
-- holds: D8
select core.create_namespace('shop');
select core.emit_batch('shop', '{a,b,c,d,e}', '{1,2,3,4,5}', array['{"headers": {"k": "v"}}', null, null, null, '{"delay": "1 h"}']::jsonb[]);
select core_node.claim('core_events_shop', '{a,b,c}', '{0,0,0}', 3, '1 h');
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{1,2}', '{1,1}', pg_temp.ats('{1,2}'), '{retry,release}', '{30 days,90 s}', '{null,null}', '{x,x}', '{x,x}'));
select pgmq.send('core_events_shop'::text, '{"eventType": "sent"}'::jsonb, 3600);
create temporary table before as select * from pgmq.q_core_events_shop;
select is(core_private.set_aside(), 2, 'a retry in thirty days, and what was sent by hand with a delay');
select is((select array_agg(msg_id order by msg_id) from pgmq.q_core_events_shop), array[2, 3, 4]::bigint[], 'but not what is in flight, is due soon or is due');
select is((select array_agg((msg_id, event_type, due_at = (select vt from before b where b.msg_id = d.msg_id))::text order by due_at) from core.delayed d),
  array['(,e,)', '(5,sent,t)', '(1,a,t)'], 'due when it was');
select is((select (queue_length, waiting, delayed)::text from core.queue_metrics where queue_name = 'core_events_shop'), '(3,1,3)', 'metrics tell');
select is((select string_agg(msg_id || ' ' || state, ',' order by msg_id) from core.peek('core_events_shop')), '1 delayed,2 waiting,3 in_flight,4 visible,5 delayed', 'so does peek');
select is((select count(*)::int from core.peek('core_events_shop') where state = 'delayed' and msg_id is null), 1, 'with what has not been on the queue');
select is((select outcome from core_node.settle('core_events_shop', 'n', '{1}', '{1}', pg_temp.ats('{1}'))), 'gone', 'whoever had it has it no more');
select is(core_node.promote_delayed(), 0, 'nothing comes back before it is due');
update nexus_test.clock set shift = '29 days 23 h 59 min';
select is(core_node.promote_delayed(), 2, 'the others are');
update nexus_test.clock set shift = '30 days 1 s';
select is(core_node.promote_delayed(), 1, 'and it is');
select is((select count(*)::int from before o join pgmq.q_core_events_shop q using (msg_id, read_ct, enqueued_at, message)
            where q.headers is not distinct from o.headers and q.last_read_at is not distinct from o.last_read_at), 5, 'each is what it was');
select is((select message ->> 'eventId' from pgmq.q_core_events_shop where msg_id not in (select msg_id from before)), '5', 'and what is new has a new id');
select is((select (read_ct, headers ->> 'nexus-failures')::text from core_node.claim('core_events_shop', '{a}', '{0}', 10, '1 h', p_window => 20) where outcome = 'claimed'), '(2,1)', 'with its history');
select throws_ok($$insert into core.delayed (due_at, queue_name, event_type, message, msg_id) values (core.now(), 'core_events_shop', 'x', '{}', 1)$$, '23514', null, 'half a message is none');
