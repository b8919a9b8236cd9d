-- A missing table is no fault of an event: no attempt is used up, others fire, and once it is back so does this one, at once.
-- holds: NS1-lost-queues
select core.create_namespace('shop', '{"retry": {"max_attempts": 2}}'), core.create_namespace('gone', '{"retry": {"max_attempts": 2}}');
insert into core.consumers (namespace, name, patterns, queue_name) values ('shop', 'mail', '{order.*}', 'core_events_shop__mail');
insert into core.queues (queue_name, namespace, consumer_id) select queue_name, namespace, consumer_id from core.consumers where name = 'mail';
update nexus_test.clock set frozen = '2030-01-01 00:00:00Z';
select core.schedule_event('shop', t, '1', '2030-01-01 00:00:00Z') from unnest('{order.a,other,order.b,another}'::text[]) t;
select core.schedule_event('gone', 'x', to_jsonb(g), '2030-01-01 00:00:00Z') from generate_series(1, 20) g;
select core.schedule_event('gone', 'x', '21', '2030-01-02 00:00:00Z');
drop table pgmq.q_core_events_gone;
select is(core.fire_due_events(), 2, 'those that have a queue');
select is((select array_agg(event_type order by event_type) from core.event_log), '{another,other}', 'these');
select is((select (count(*), sum(attempts), count(distinct due_at), min(due_at) = '2030-01-01 00:01:00Z', min(first_failed_at), min(last_error))::text from core.scheduled_events where status = 'pending' and payload <> '21'),
  $$(22,0,1,t,,"NX110 queue tables of namespace 'gone' are missing")$$, 'the others wait a minute, and say why');
select is(core.fire_due_events(), 0, 'not before that');
update nexus_test.clock set frozen = '2030-01-01 00:01:00Z';
select core.fire_due_events(); update nexus_test.clock set frozen = '2030-01-01 00:02:00Z'; select core.fire_due_events();
select is((select (sum(attempts), count(*) filter (where status = 'pending'))::text from core.scheduled_events), '(0,23)', 'however often it is tried');
select is((select count(*)::int from core.dead_letters), 0, 'none is given up');
select core.create_namespace('gone', '{"retry": {"max_attempts": 2}}');
select is(core.fire_due_events(), 20, 'made again: at once');
select is((select count(*)::int from pgmq.q_core_events_gone), 20, 'each once');
select is((select due_at from core.scheduled_events where payload = '21'), '2030-01-02 00:00:00Z', 'what is due later stays so');
