-- A queue that is made again gives no id that something still refers to: whatever does so, wherever it stands.
-- holds: NS1-lost-queues
select core.create_namespace('shop'), core.create_namespace('other');
select core.schedule_task('shop', 't', '0 0 1 1 *', 'x');
select is(core_private.above_known_ids('core_events_shop'), 1000001::bigint, 'a million beyond nothing');
select setval('core.event_id_seq', 1000000);
select is(core_private.above_known_ids('core_events_shop'), 2000001::bigint, 'beyond the events there were');
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived)
values ('core_events_shop', 'p', 2000000, 'shop', 1, core.now(), '{}', core.now(), '0');
select is(core_private.above_known_ids('core_events_shop'), 3000001::bigint, 'parked');
insert into core.delayed (due_at, queue_name, event_type, message, msg_id, read_ct, enqueued_at) values (core.now(), 'core_events_shop', 'x', '{}', 3000000, 1, core.now()), (core.now(), 'core_events_shop', 'x', '{}', null, null, null);
select is(core_private.above_known_ids('core_events_shop'), 4000001::bigint, 'delayed');
insert into core_private.task_deliveries (queue_name, msg_id, task_id, slot, event_id) select 'core_events_shop', 4000000, task_id, core.now(), 1 from core.scheduled_tasks;
select is(core_private.above_known_ids('core_events_shop'), 5000001::bigint, 'linked to a task');
insert into core_private.express_batches (queue_name, xact_id, node_id, lowest, highest, opened_at) values ('core_events_shop', 1, 'n', 1, 5000000, core.now());
select is(core_private.above_known_ids('core_events_shop'), 6000001::bigint, 'in the hands of an express node');
insert into core.dead_letters (namespace, consumer, source_kind, source_ref, queue_name, msg_id, dlq_msg_id, payload, attempts, failed_at, reason)
values ('shop', 'default', 'delivery', '{"queue": "core_events_shop", "msgId": 1}', 'core_events_shop', 6000000, 20000000, '1', 1, core.now(), 'r');
select is(core_private.above_known_ids('core_events_shop'), 7000001::bigint, 'a dead letter');
update core.dead_letters set replay_msg_id = 7000000, status = 'resolved', resolution = 'replayed', resolved_at = core.now(), resolved_by = 'x';
select is(core_private.above_known_ids('core_events_shop'), 8000001::bigint, 'and what it was replayed as');
select is(core_private.above_known_ids('core_events_shop_dlq'), 21000001::bigint, 'the ids of copies are those of the dead-letter queue');
select is(core_private.above_known_ids('core_events_other'), 2000001::bigint, 'each queue has its own');
