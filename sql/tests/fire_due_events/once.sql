-- O2, O3, O8
-- holds: O2, O3, O8
select core.create_namespace('shop'), core.create_namespace('mail');
update core.namespaces set default_consumer = false where namespace = 'mail'; -- as it will be where there are named consumers only
insert into core.consumers (namespace, name, patterns, queue_name) values ('shop', 'audit', '{bill.*}', 'core_events_shop__audit');
insert into core.queues (queue_name, namespace, consumer_id) select 'core_events_shop__audit', 'shop', consumer_id from core.consumers where name = 'audit';
set local role nexus_owner; select core_private.create_queue('core_events_shop__audit'); reset role;
update nexus_test.clock set frozen = '2030-01-01 00:00:00Z';
select is(core_private.next_scheduled_event_due(), null, 'nothing is pending');
create role t_clerk login in role nexus_producer; grant usage on schema tap to public; grant execute on all functions in schema tap to public;
set local role t_clerk;
select core.schedule_event('shop', 'bill.due', '{"n": 1}', '2030-01-01 01:00:00Z', '{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000001", "tags": ["t"], "headers": {"traceparent": "tp"},
  "ordering_key": "o", "correlation_id": "c", "causation_uid": "bbbbbbbb-0000-0000-0000-000000000002", "authored_at": "2029-12-31T23:00:00Z", "producer": "p", "depth": 3}');
reset role;
select core.schedule_event('mail', 'y', '2', '2030-01-01 00:30:00Z', '{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000003"}');
select is(core_private.next_scheduled_event_due(), '2030-01-01 00:30:00Z', 'when the next one is due');
select is(core.fire_due_events(), 0, 'nothing is due');
update nexus_test.clock set frozen = '2030-01-01 00:59:59.999999Z';
select is(core.fire_due_events(), 1, 'never early');
select is((select event_uid from core.event_log), 'aaaaaaaa-0000-0000-0000-000000000003', 'the other one');
update nexus_test.clock set frozen = '2030-01-01 01:00:00Z';
select is(core.fire_due_events(), 1, 'but on time');
select is(core.fire_due_events(), 0, 'once');
select is((select count(*)::int from core.event_log where event_uid = 'aaaaaaaa-0000-0000-0000-000000000001'), 1, 'one log row with the id of the schedule');
select is((select to_jsonb(l) - '{event_id,metadata,emitted_at,authored_at,principal}'::text[] from core.event_log l where event_type = 'bill.due'),
  '{"namespace": "shop", "event_type": "bill.due", "payload": {"n": 1}, "event_uid": "aaaaaaaa-0000-0000-0000-000000000001", "correlation_id": "c", "causation_uid": "bbbbbbbb-0000-0000-0000-000000000002",
    "depth": 3, "ordering_key": "o", "tags": ["t"], "headers": {"traceparent": "tp"}, "producer_node_id": "p", "slot": null, "scheduled_task_id": null, "priority": null, "consumer_generation": null, "trigger_generation": null, "deliver_at": null}', 'with what was given');
select is((select (authored_at, emitted_at)::text from core.event_log where event_type = 'bill.due'), (row('2029-12-31 23:00:00Z'::timestamptz, '2030-01-01 01:00:00Z'::timestamptz))::text, 'authored_at is kept, emitted_at is now');
select is((select principal from core.event_log where event_type = 'bill.due'), session_user || ' as t_clerk', 'the principal is who scheduled it');
select is((select authored_at from core.event_log where event_type = 'y'), '2030-01-01 00:00:00Z', 'authored_at is else the time of scheduling');
select is((select count(*)::int from core.event_log l join pgmq.q_core_events_shop q on q.msg_id = (l.metadata ->> 'messageId')::bigint), 1, 'a delivery to the default consumer, which the log knows');
select is((select message - '{emittedAt,eventId}'::text[] from pgmq.q_core_events_shop),
  '{"namespace": "shop", "eventType": "bill.due", "payload": {"n": 1}, "producerNodeId": "p", "eventUid": "aaaaaaaa-0000-0000-0000-000000000001", "orderingKey": "o", "correlationId": "c",
    "causationUid": "bbbbbbbb-0000-0000-0000-000000000002", "authoredAt": "2029-12-31T23:00:00.000000Z", "tags": ["t"], "depth": 3}', 'the envelope');
select is((select headers from pgmq.q_core_events_shop), '{"traceparent": "tp"}', 'its headers');
select is((select count(*)::int from pgmq.q_core_events_shop__audit), 1, 'and one to each consumer whose patterns match');
select is((select array_agg((e.status, e.event_id = l.event_id, e.finished_at = l.emitted_at)::text) from core.scheduled_events e join core.event_log l on l.event_uid = e.schedule_id), array['(appended,t,t)', '(appended,t,t)'], 'the rows are tombstones');
select is(core_private.next_scheduled_event_due(), null, 'nothing is pending any more');
select is((select count(*)::int from core.pending_scheduled_events), 0, 'nor in the view');
select is(core.schedule_event('mail', 'y', '2', '2030-01-01 00:30:00Z', '{"schedule_id": "aaaaaaaa-0000-0000-0000-000000000003"}'), 'aaaaaaaa-0000-0000-0000-000000000003', 'scheduled again: no error');
select is(core.fire_due_events(), 0, 'and no second event');
select throws_ok(format('select core.fire_due_events(%s)', coalesce(n::text, 'null')), 'NX006', null, 'limit ' || coalesce(n::text, 'null')) from unnest(array[null, 0, 10001]) n;
select core.schedule_event('shop', 'z', to_jsonb(g), '2030-01-01 01:00:00Z'::timestamptz - g * interval '1 s') from generate_series(1, 5) g;
update nexus_test.clock set frozen = '2030-01-01 02:00:00Z';
select is(core.fire_due_events(3), 3, 'no more than asked for');
select is(core.fire_due_events(), 2, 'the rest next time');
