-- S9: a slot is open until each delivery of its event is acked, rejected, buried or purged.
-- holds: S9, S11, others-pile
select core.create_namespace('shop');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
select core.schedule_task('shop', p, '* * * * *', p, '{}', jsonb_build_object('overlap', p)) from unnest(array['allow', 'skip', 'queue_one']) p;
create function pg_temp.ledger(p_name text) returns text language sql as $$
  select string_agg(to_char(s.slot at time zone 'UTC', 'MI') || ' ' || s.status, ', ' order by s.slot) from core.task_slots s join core.scheduled_tasks t using (task_id) where t.name = p_name $$;
create function pg_temp.at(p_time text) returns int language plpgsql as $$ begin
  update nexus_test.clock set frozen = ('2026-12-01 12:' || p_time || 'Z')::timestamptz; return core_private.fire_tasks(100); end $$;
select is(pg_temp.at('01:05'), 3, 'each fires');
select is(pg_temp.at('02:05'), 1, 'its event is not done: only the one that may overlap');
select pg_temp.at('03:05');
select is(pg_temp.ledger('allow'), '01 fired, 02 fired, 03 fired', 'allow');
select is(pg_temp.ledger('skip'), '01 fired, 02 skipped, 03 skipped', 'skip');
select is(pg_temp.ledger('queue_one'), '01 fired, 02 waiting, 03 skipped', 'queue_one: one waits at most');
select is((select next_due from core_node.fire_due()), '2026-12-01 12:03:06Z', 'while one waits nodes come each second');
-- a retry keeps its message, parked or put off: still open
delete from pgmq.q_core_events_shop q using core.event_log l where q.message ->> 'eventType' = 'skip' and l.event_type = 'skip';
update pgmq.q_core_events_shop set vt = '2027-01-01', read_ct = 3 where message ->> 'eventType' = 'queue_one';
select is(pg_temp.at('04:05'), 2, 'acked: skip fires again');
insert into core.delayed (due_at, queue_name, event_type, message, msg_id, read_ct, enqueued_at) select '2027-01-01', 'core_events_shop', 'queue_one', message, msg_id, read_ct, enqueued_at from pgmq.q_core_events_shop where message ->> 'eventType' = 'queue_one';
delete from pgmq.q_core_events_shop where message ->> 'eventType' = 'queue_one';
select pg_temp.at('04:30');
select is(pg_temp.ledger('queue_one'), '01 fired, 02 waiting, 03 skipped, 04 skipped', 'put off: still open');
insert into core.parked (queue_name, event_type, msg_id, namespace, event_id, read_ct, enqueued_at, message, parked_at, lived)
select queue_name, event_type, msg_id, 'shop', (message ->> 'eventId')::bigint, read_ct, enqueued_at, message, core.now(), '0' from core.delayed;
delete from core.delayed;
select pg_temp.at('04:40');
select is(pg_temp.ledger('queue_one'), '01 fired, 02 waiting, 03 skipped, 04 skipped', 'parked: still open');
delete from core.parked;
select is(pg_temp.at('04:50'), 1, 'done');
select is(pg_temp.ledger('queue_one'), '01 fired, 02 fired, 03 skipped, 04 skipped', 'the one that waited fires, late as it is');
select is((select slot from core.event_log where event_type = 'queue_one' order by event_id desc limit 1), '2026-12-01 12:02Z', 'with its slot');
select is((select waiting_slot from core.scheduled_tasks where name = 'queue_one'), null, 'nothing waits');
select is(pg_temp.ledger('skip'), '01 fired, 02 skipped, 03 skipped, 04 fired', 'skip');
-- a dead letter is done; its replay does not count
create temporary table held as select * from core_node.claim('core_events_shop', '{skip}', '{1}', 100, '1 minute') where outcome = 'claimed';
select is((select outcome from core_node.settle('core_events_shop', null, '{}', '{}', '{}', pg_temp.failed(array[(select msg_id from held)], array[(select read_ct from held)], array[(select last_read_at from held)], '{reject}', array[null]::interval[], array[null]::jsonb[], '{no}', '{no}'))), 'buried', 'rejected');
select core.replay_dead_letters('{"namespace": "shop"}');
select pg_temp.at('05:05');
select is(pg_temp.ledger('skip'), '01 fired, 02 skipped, 03 skipped, 04 fired, 05 fired', 'after a dead letter it fires again');
-- pausing drops what waits
select is((select waiting_slot from core.scheduled_tasks where name = 'queue_one'), '2026-12-01 12:05Z', 'one waits again');
update core.scheduled_tasks set active = false where name = 'queue_one';
delete from pgmq.q_core_events_shop;
select pg_temp.at('05:30');
select is((select status || reason from core.task_slots join core.scheduled_tasks using (task_id) where name = 'queue_one' and slot = '2026-12-01 12:05Z'), 'skippedpaused', 'a pause drops it');
select is((select count(*)::int from core_private.task_deliveries d join core.scheduled_tasks t using (task_id) where t.overlap = 'allow'), 0, 'links only where somebody asks');
-- after a sleep the late slots of one round do not overlap either
update core.scheduled_tasks set active = true, misfire_after = '1 hour' where name = 'queue_one';
select pg_temp.at('09:30');
select is(pg_temp.ledger('queue_one'), '01 fired, 02 fired, 03 skipped, 04 skipped, 05 skipped, 06 fired, 07 waiting, 08 skipped, 09 skipped', 'the first fires, one waits');
