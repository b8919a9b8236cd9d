-- S10: a clock that is set back doubles nothing and silences nothing.
-- holds: S10
select core.create_namespace('shop');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
select core.schedule_task('shop', 'minute', '* * * * *', 'x');
select core.schedule_task('shop', 'tick', '@every 90s', 'x', '{}', '{"overlap": "allow"}');
create function pg_temp.at(p_time text) returns int language plpgsql as $$ begin
  update nexus_test.clock set frozen = p_time::timestamptz; return core_private.fire_tasks(100); end $$;
create function pg_temp.ledger(p_name text) returns text language sql as $$
  select string_agg(to_char(s.slot at time zone 'UTC', 'DD HH24:MI:SS') || ' ' || s.status, ', ' order by s.slot) from core.task_slots s join core.scheduled_tasks t using (task_id) where t.name = p_name $$;
select pg_temp.at('2026-12-01 12:01:30Z'), pg_temp.at('2026-12-01 12:02:10Z');
-- forward by a day, by mistake
select is(pg_temp.at('2026-12-02 12:02:30Z'), 3, 'forward: what is due fires');
select core.schedule_task('shop', 'born later', '0 * * * *', 'x');
select is((select next_slot from core.scheduled_tasks where name = 'born later'), '2026-12-02 13:00Z', 'and more is made');
select is(pg_temp.at('2026-12-01 12:02:40Z'), 0, 'and back: nothing fires twice');
select is((select string_agg(name || ' ' || to_char(next_slot at time zone 'UTC', 'DD HH24:MI:SS'), ', ' order by name) from core.scheduled_tasks),
  'born later 01 13:00:00, minute 01 12:03:00, tick 01 12:03:30', 'each goes on by this clock');
select is(pg_temp.at('2026-12-01 12:03:00Z'), 1, 'the minute goes on');
select is(pg_temp.at('2026-12-01 12:03:30Z'), 1, 'so does the interval');
select is(pg_temp.at('2026-12-01 13:00:00Z') > 0, true, 'and the hour of the task that was made');
select is((select count(*)::int from core.task_slots join core.scheduled_tasks using (task_id) where name = 'born later' and status = 'fired'), 1, 'which fired');
select is((select count(*) - count(distinct (scheduled_task_id, slot)) from core.event_log), 0::bigint, 'no slot was emitted twice');
-- a small step back is none
select is(pg_temp.at('2026-12-01 12:59:30Z'), 0, 'half a minute back');
select is((select next_slot from core.scheduled_tasks where name = 'minute'), '2026-12-01 13:01Z', 'moves nothing');
