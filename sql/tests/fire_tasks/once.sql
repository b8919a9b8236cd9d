-- S1: a slot is one event, in log, queue and ledger, whoever comes; it carries its slot.
-- holds: S1
select core.create_namespace('shop');
insert into core.consumers (namespace, name, patterns, queue_name) values ('shop', 'audit', '{report.*}', 'core_events_shop__audit');
insert into core.queues (queue_name, namespace, consumer_id) select queue_name, namespace, consumer_id from core.consumers where name = 'audit';
set local role nexus_owner;
select core_private.create_queue('core_events_shop__audit');
reset role;
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
create temporary table t as select core.schedule_task('shop', 'report', '* * * * *', 'report.due', '{"a": 1}') as id;
select core.schedule_task('shop', 'other', '* * * * *', 'other', '{}', '{"jitter": "1 h"}');
update core.scheduled_tasks set jitter_offset = '20 s', next_run_at = next_slot + interval '20 s' where name = 'other';
select is(core_private.fire_tasks(100), 0, 'not before its time');
select is((select next_due from core_node.fire_due()), '2026-12-01 12:01Z', 'nodes are told when');
update nexus_test.clock set frozen = '2026-12-01 12:01:05Z';
select is((select fired from core_node.fire_due()), 1, 'due');
select is((select last_error from core.scheduled_tasks where name = 'report'), null, 'no error');
select is(core_private.fire_tasks(100), 0, 'once');
select is((select next_due from core_node.fire_due()), '2026-12-01 12:01:20Z', 'jitter comes after the slot');
select results_eq($$select s.slot, s.status, s.lateness, s.event_uid = core_private.slot_uid(s.task_id, s.slot) from core.task_slots s$$,
  $$values ('2026-12-01 12:01Z'::timestamptz, 'fired', '5 s'::interval, true)$$, 'ledger');
select results_eq($$select l.event_type, l.payload, l.slot, l.scheduled_task_id, l.event_id = s.event_id and l.event_uid = s.event_uid, l.principal = session_user, l.metadata - 'messageId' from core.event_log l cross join core.task_slots s$$,
  $$select 'report.due', '{"a": 1}'::jsonb, '2026-12-01 12:01Z'::timestamptz, t.id, true, true, '{}'::jsonb from t$$, 'log');
select results_eq($$select message - array['eventId', 'eventUid', 'scheduledTaskId'], (message ->> 'scheduledTaskId')::uuid from pgmq.q_core_events_shop$$,
  $$select '{"namespace": "shop", "eventType": "report.due", "payload": {"a": 1}, "emittedAt": "2026-12-01T12:01:05.000000Z", "producerNodeId": null, "slot": "2026-12-01T12:01:00.000000Z"}'::jsonb, t.id from t$$, 'queue');
select is((select (metadata ->> 'messageId')::bigint from core.event_log), (select msg_id from pgmq.q_core_events_shop), 'the log knows the message');
select is((select count(*)::int from pgmq.q_core_events_shop__audit), 1, 'each matching consumer has one');
select results_eq($$select next_slot, next_run_at, last_slot, last_run_at, failures from core.scheduled_tasks where name = 'report'$$,
  $$values ('2026-12-01 12:02Z'::timestamptz, '2026-12-01 12:02Z'::timestamptz, '2026-12-01 12:01Z'::timestamptz, '2026-12-01 12:01:05Z'::timestamptz, 0)$$, 'and goes on');
-- A ledger row is the proof, whatever the task says.
update core.scheduled_tasks set next_slot = '2026-12-01 12:01Z', next_run_at = '2026-12-01 12:01Z' where name = 'report';
select is(core_private.fire_tasks(100), 0, 'a slot in the ledger is not fired again');
update nexus_test.clock set frozen = '2026-12-01 12:01:25Z';
select is(core_private.fire_tasks(100), 1, 'the one with jitter, later');
select is((select slot::text || lateness from core.task_slots join core.scheduled_tasks using (task_id) where name = 'other'), '2026-12-01 12:01:00+0000:00:25', 'by its slot');
select is((select count(*)::int from pgmq.q_core_events_shop__audit), 1, 'which the audit does not want');
-- bounds
select core.schedule_task('shop', 'other', '* * * * *', 'other', '{}', '{"starts_at": "2026-12-01T12:10:00Z", "ends_at": "2026-12-01T12:11:00Z"}');
select is((select next_slot from core.scheduled_tasks where name = 'other'), '2026-12-01 12:10Z', 'starts_at is a slot');
delete from core.scheduled_tasks where name = 'report';
update nexus_test.clock set frozen = '2026-12-01 12:11:30Z';
select is(core_private.fire_tasks(100), 2, 'so is ends_at');
select is((select next_run_at from core.scheduled_tasks), null, 'after which it is over');
select is((select next_due from core_node.fire_due()), null, 'and nodes need not come');
select is((select count(*)::int from core.event_log), 4, 'four events in all');
