-- S8: late slots fire, one by one; old ones by policy; the rest is one row.
-- holds: S8, others-pile, others-missed
select core.create_namespace('shop');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
select core.schedule_task('shop', p.misfire, '* * * * *', 'x', '{}', jsonb_build_object('misfire', p.misfire) || case p.misfire when 'backfill' then '{"backfill": 3}' else '{}'::jsonb end)
  from (values ('skip'), ('fire_once'), ('backfill')) p(misfire);
select core.schedule_task('shop', 'hourly ' || p.misfire, '0 * * * *', 'x', '{}', jsonb_build_object('misfire', p.misfire) || case p.misfire when 'backfill' then '{"backfill": 3}' else '{}'::jsonb end)
  from (values ('skip'), ('fire_once'), ('backfill')) p(misfire);
select core.schedule_task('shop', 'tick', '@every 30s', 'x', '{}', '{"overlap": "allow"}');
select core.schedule_task('shop', 'tick all', '@every 30s', 'x', '{}', '{"overlap": "allow", "misfire": "backfill", "backfill": 2}');
create function pg_temp.ledger(p_name text) returns text language sql as $$
  select string_agg(to_char(s.slot at time zone 'UTC', 'HH24:MI:SS') || coalesce(to_char(s.until at time zone 'UTC', '-HH24:MI:SS'), '') || ' ' || s.status, ', ' order by s.slot)
    from core.task_slots s join core.scheduled_tasks t using (task_id) where t.name = p_name $$;
-- eight and a half hours asleep
update nexus_test.clock set frozen = '2026-12-01 20:30:30Z';
select core_private.fire_tasks(100);
select is(pg_temp.ledger('skip'), '12:01:00-20:29:00 missed, 20:29:00 fired, 20:30:00 fired', 'skip: what is late fires');
select is(pg_temp.ledger('fire_once'), '12:01:00-20:29:00 missed, 20:29:00 fired, 20:30:00 fired', 'fire_once: nothing to catch up, since a slot on time follows');
select is(pg_temp.ledger('backfill'), '12:01:00-20:26:00 missed, 20:26:00 caught_up, 20:27:00 caught_up, 20:28:00 caught_up, 20:29:00 fired, 20:30:00 fired', 'backfill: the newest three');
select is(pg_temp.ledger('hourly skip'), '13:00:00-20:28:30 missed', 'skip');
select is(pg_temp.ledger('hourly fire_once'), '13:00:00-20:00:00 missed, 20:00:00 caught_up', 'fire_once: the newest');
select is(pg_temp.ledger('hourly backfill'), '13:00:00-18:00:00 missed, 18:00:00 caught_up, 19:00:00 caught_up, 20:00:00 caught_up', 'backfill');
select is(pg_temp.ledger('tick'), '12:01:00-20:30:30 missed, 20:30:30 fired', 'late ticks of an interval are one, the newest');
select is(pg_temp.ledger('tick all'), '12:01:00-20:27:30 missed, 20:27:30 caught_up, 20:28:00 caught_up, 20:28:30 fired, 20:29:00 fired, 20:29:30 fired, 20:30:00 fired, 20:30:30 fired', 'unless all are wanted');
select is((select string_agg(event_id::text, ',' order by slot, event_id) from core.event_log where scheduled_task_id = (select task_id from core.scheduled_tasks where name = 'backfill')),
          (select string_agg(event_id::text, ',' order by event_id) from core.event_log where scheduled_task_id = (select task_id from core.scheduled_tasks where name = 'backfill')), 'oldest first');
select is(core_private.fire_tasks(100), 0, 'all is done');
select is((select count(*)::int from core.scheduled_tasks where next_run_at <= core.now()), 0, 'and nothing is due');
-- a year asleep: the time it takes has nothing to do with it
update nexus_test.clock set frozen = '2027-12-01 20:30:30Z';
select core_private.fire_tasks(100);
select is((select count(*)::int from core.task_slots where slot > '2026-12-01 21:00Z' or until > '2026-12-01 21:00Z'), 3 + 3 + 6 + 1 + 2 + 4 + 2 + 8, 'a year: as many rows');
-- a longer patience
select core.schedule_task('shop', 'patient', '0 * * * *', 'x', '{}', '{"misfire": "skip", "misfire_after": "1 day"}');
update nexus_test.clock set frozen = '2027-12-01 23:59:00Z';
select core_private.fire_tasks(100);
select is(pg_temp.ledger('patient'), '21:00:00 fired, 22:00:00 fired, 23:00:00 fired', 'slots no older than misfire_after all fire');
-- more than a hundred late slots take more than one call, and none is lost
select core.schedule_task('shop', 'crowd', '* * * * *', 'x', '{}', '{"misfire_after": "1 day"}');
update nexus_test.clock set frozen = '2027-12-02 04:00:30Z';
select core_private.fire_tasks(100), core_private.fire_tasks(100), core_private.fire_tasks(100), core_private.fire_tasks(100);
select is((select count(*) filter (where status = 'fired')::text || ' of ' || count(*) from core.task_slots join core.scheduled_tasks using (task_id) where name = 'crowd'), '241 of 241', 'hundred by hundred');
