-- A declaration says all there is: the same again changes nothing, another replaces, another owner is refused.
select core.create_namespace('shop');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
create temporary table t as select core.schedule_task('shop', 'report', '@hourly', 'report.due', '{"a": 1}') as id;
select results_eq($$select cron_expression, timezone, misfire, misfire_after, backfill, overlap, jitter, active, next_slot, next_run_at, registered_by = session_user from core.scheduled_tasks$$,
  $$values ('0 * * * *', 'UTC', 'fire_once', '2 minutes'::interval, 0, 'allow', '0'::interval, true, '2026-12-01 13:00Z'::timestamptz, '2026-12-01 13:00Z'::timestamptz, true)$$, 'defaults');
update core.scheduled_tasks set last_error = 'kept';
select is(core.schedule_task('shop', 'report', '0 * * * *', 'report.due', '{"a": 1}'), (select id from t), 'the same again');
select is((select last_error from core.scheduled_tasks), 'kept', 'changed nothing');
select throws_ok($$select core.schedule_task('shop', 'report', '5 * * * *', 'report.due', '{"a": 1}', '{"replace": false}')$$, 'NX208', null, 'another, and replace is false');
select is(core.schedule_task('shop', 'report', '5 * * * *', 'report.due', '{"a": 2}', '{"jitter": "10 min", "misfire": "backfill", "ends_at": "2027-01-01T00:00:00Z"}'), (select id from t), 'another');
select results_eq($$select cron_expression, payload, misfire, backfill, jitter_offset between '0' and jitter, next_slot, next_run_at = next_slot + jitter_offset from core.scheduled_tasks$$,
  $$values ('5 * * * *', '{"a": 2}'::jsonb, 'backfill', 100, true, '2026-12-01 12:05Z'::timestamptz, true)$$, 'replaces it');
select core.pause_task(id) from t;
select core.schedule_task('shop', 'report', '6 * * * *', 'report.due', '{"a": 2}');
select is((select active::text || jitter || next_slot from core.scheduled_tasks), null, 'a paused task stays paused, with no next slot');
select throws_ok($$select core.schedule_task('shop', 'report', '6 * * * *', 'report.due', '{}', '{"owner": "deploy"}')$$, 'NX208', null, 'another owner');
select is(core.schedule_task('shop', 'own', '@every 90s', 'x', '{}', '{"owner": "deploy", "starts_at": "2026-12-01T13:00:00Z"}') is not null, true, 'an owner');
select is((select next_slot::text || overlap from core.scheduled_tasks where name = 'own'), '2026-12-01 13:00:00+00skip', '@every begins at starts_at and does not overlap');
select throws_ok(format('select core.schedule_task(%L, %L, %L, %L, %L, %L)', ns, name, cron, type, payload, options), code, null, label) from (values
  ('shop', '', '* * * * *', 'x', '{}', '{}', 'NX013', 'no name'),
  ('shop', E'a\nb', '* * * * *', 'x', '{}', '{}', 'NX013', 'a control character'),
  ('shop', 'b', '* * * *', 'x', '{}', '{}', 'NX011', 'expression'),
  ('shop', 'b', '* * * * *', 'x y', '{}', '{}', 'NX002', 'type'),
  ('nope', 'b', '* * * * *', 'x', '{}', '{}', 'NX101', 'namespace'),
  ('shop', 'b', '* * * * *', 'x', '{}', '{"timezone": "CEST"}', 'NX012', 'zone'),
  ('shop', 'b', '* * * * *', 'x', '{}', '{"zone": "UTC"}', 'NX004', 'unknown option'),
  ('shop', 'b', '* * * * *', 'x', '{}', '{"jitter": 5}', 'NX005', 'a number for an interval'),
  ('shop', 'b', '* * * * *', 'x', '{}', '{"jitter": "2 days"}', 'NX005', 'too much jitter'),
  ('shop', 'b', '* * * * *', 'x', '{}', '{"misfire": "all"}', 'NX013', 'misfire'),
  ('shop', 'b', '* * * * *', 'x', '{}', '{"overlap": "never"}', 'NX013', 'overlap'),
  ('shop', 'b', '* * * * *', 'x', '{}', '{"backfill": 3}', 'NX013', 'backfill without misfire backfill'),
  ('shop', 'b', '* * * * *', 'x', '{}', '{"backfill": 101, "misfire": "backfill"}', 'NX005', 'too much backfill'),
  ('shop', 'b', '* * * * *', 'x', '{}', '{"starts_at": "2027-01-02T00:00:00Z", "ends_at": "2027-01-01T00:00:00Z"}', 'NX013', 'ends before it starts'),
  ('shop', 'b', '* * * * *', 'x', '{}', '{"active": "yes"}', 'NX005', 'active'),
  ('shop', 'b', '* * * * *', 'x', '{"n": 1e400}', '{}', 'NX003', 'payload')) v(ns, name, cron, type, payload, options, code, label);
select is((select count(*)::int from core.scheduled_tasks), 2, 'nothing of that was stored');
-- replace false changes nothing, so that what is left out, the owner too, is no opinion
select core.schedule_task('shop', 'kept', '5 * * * *', 'x', '{}', '{"jitter": "10 min", "timezone": "Europe/Berlin", "owner": "deploy"}');
select lives_ok(format($$select core.schedule_task('shop', 'kept', '5 * * * *', 'x', '{}', '{"replace": false}'::jsonb || %L)$$, o), 'has no other opinion: ' || o)
  from unnest(array['{}', '{"jitter": "600 s"}', '{"timezone": "Europe/Berlin", "owner": "deploy", "backfill": 0}']) o;
select throws_ok(format($$select core.schedule_task('shop', 'kept', '5 * * * *', 'x', '{}', '{"replace": false}'::jsonb || %L)$$, o), 'NX208', $$task 'kept' of namespace 'shop' exists with other settings: $$ || w, w)
  from (values ('{"jitter": "1 min"}', 'jitter is 00:10:00, given 00:01:00'), ('{"timezone": "UTC", "misfire": "skip"}', 'timezone is Europe/Berlin, given UTC; misfire is fire_once, given skip'),
               ('{"ends_at": "2031-01-01T00:00:00Z"}', 'ends_at is not set, given 2031-01-01T00:00:00+00:00')) v (o, w);
select throws_ok($$select core.schedule_task('shop', 'kept', '5 * * * *', 'x', '{}', '{"replace": false, "owner": "mine"}')$$, 'NX208', $$task 'kept' of namespace 'shop' belongs to owner 'deploy'$$, 'another owner is');
select core.delete_task('shop', 'kept');
select throws_ok($$select core.pause_task(gen_random_uuid())$$, 'NX108', null, 'unknown');
select is((select array_agg(r.x) from (select core.resume_task(id) as x from t union all select core.resume_task(id) from t) r), '{t,f}', 'resume says whether it did');
select core.delete_task(id) from t;
select is((select count(*)::int from core.scheduled_tasks), 1, 'deleted');
