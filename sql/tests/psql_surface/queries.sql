-- 11: the queries that users know, by the roles they run as
-- holds: P1
select core.create_namespace('myapp');
select core.emit('myapp', 'a.b', '{"x": 1}');
select core_node.register_node('myapp', 'n', true, '{}');
grant usage on schema tap to nexus_reader, nexus_operator;
grant execute on all functions in schema tap to nexus_reader, nexus_operator;
grant all on all tables in schema pg_temp to nexus_reader, nexus_operator;
grant all on all sequences in schema pg_temp to nexus_reader, nexus_operator;
set local role nexus_reader;
select lives_ok('select namespace, created_at, metadata from core.namespaces', '1');
select is((select count(*)::int from (select node_id, namespace, display_name, description, metadata, registered_at, last_heartbeat, now() - last_heartbeat from core.nodes
   where namespace = 'myapp' and last_heartbeat > now() - interval '5 minutes' order by last_heartbeat desc) q), 1, '2');
select is((select count(*)::int from (select * from core.event_log where namespace = 'myapp' and event_type = 'a.b' order by emitted_at desc limit 100) q), 1, '3');
select is((select (event_type, count(*))::text from core.event_log where namespace = 'myapp' and emitted_at > now() - interval '24 hours' group by event_type), '(a.b,1)', '4');
select ok((select count(*) > 5 from pg_tables where tablename like 'event_log%'), '10');
select is((select queue_length::int from core.queue_metrics where queue_name = 'core_events_myapp'), 1, '11');
select is((select count(*)::int from (select queue_name, queue_length, newest_msg_age_seconds, oldest_msg_age_seconds from core.queue_metrics where queue_name like 'core_events_%') q), 2, '12');
select is((select state from core.peek('core_events_myapp')), 'visible', 'peek');
select throws_ok($$select core.emit('myapp', 'a')$$, '42501', null, 'a reader emits nothing');
set local role nexus_operator;
select lives_ok($$select core.append_event_log('myapp', 'a.b', '{}', 'n', null, '{"messageId": 1}')$$, '6');
select is((select count(*)::int from pgmq.read('core_events_myapp', 0, 10)), 1, '7 read');
select lives_ok($$select pgmq.send('core_events_myapp', '{}'::jsonb)$$, '7 send');
select ok(pgmq.delete('core_events_myapp', 1::bigint), '7 delete');
reset role;
select is((select (count(*), sum(read_ct))::text from pgmq.q_core_events_myapp), '(1,0)', 'peek and queue_metrics have read nothing');
select throws_ok($$select core.append_event_log('myapp', '', '{}', 'n')$$, 'NX002', null, 'append refuses what emit refuses');
