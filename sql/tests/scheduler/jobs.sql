-- S5, S6, S14: a task has a job of its own in pg_cron, made and removed in the same transaction, up to a cap.
-- holds: S5, S6, S14, others-commands
create temporary table has as select exists (select from pg_extension where extname = 'pg_cron') as cron;
select core.create_namespace('shop'), core.create_namespace('vault', '{"restricted": true}');
create function pg_temp.jobs() returns text language sql as $$
  select case when (select cron from has) then (select string_agg(t.name || ': ' || j.schedule, ', ' order by t.name) from core.cron_jobs j join core.scheduled_tasks t using (task_id)
    where j.jobid = t.job_id and j.command = format('SELECT core.run_scheduled_task(%L)', t.task_id) and j.username = 'nexus_scheduler' and j.active
      and j.jobname = t.namespace || ':' || replace(t.task_id::text, '-', '')) end $$;
create function pg_temp.orphans() returns int language sql as $$ select count(*)::int from core.cron_jobs j where j.namespace is not null and not exists (select from core.scheduled_tasks t where t.job_id = j.jobid) $$;
select core.schedule_task('shop', 'a utc', '5 3 * * 1', 'x'), core.schedule_task('shop', 'b berlin', '5,35 3 * * 1', 'x', '{}', '{"timezone": "Europe/Berlin"}'),
       core.schedule_task('shop', 'c nepal', '5 3 * * 1', 'x', '{}', '{"timezone": "Asia/Kathmandu"}'), core.schedule_task('shop', 'd every', '@every 90s', 'x');
select is(pg_temp.jobs(), case when cron then 'a utc: 5 3 * * 1, b berlin: 5,35 * * * *, c nepal: * * * * *, d every: * * * * *' end, 'as often as the task, or more') from has;
insert into core.scheduled_tasks (namespace, name, cron_expression, event_type) values ('shop', 'e', '@hourly', 'x') on conflict do nothing;
insert into core.scheduled_tasks (namespace, name, cron_expression, event_type) values ('shop', 'e', '@hourly', 'x') on conflict do nothing;
select is(pg_temp.orphans(), 0, 'ON CONFLICT leaks no job');
update core.scheduled_tasks set active = false where name = 'a utc';
update core.scheduled_tasks set cron_expression = '@daily' where name = 'e';
delete from core.scheduled_tasks where name = 'c nepal';
update core.scheduled_tasks set namespace = 'vault' where name = 'd every';
select is(pg_temp.jobs(), case when cron then 'b berlin: 5,35 * * * *, d every: * * * * *, e: 0 0 * * *' end, 'pause, edit, delete, move') from has;
select is(pg_temp.orphans(), 0, 'nothing is left behind');
savepoint s;
select core.schedule_task('shop', 'gone', '* * * * *', 'x');
rollback to s;
select is(pg_temp.orphans(), 0, 'what is rolled back leaves no job');
select core.alter_scheduler('{"max_cron_jobs": 2}');
select is((select cron_jobs from core.scheduler_status), case when cron then 2 else 0 end::bigint, 'a lower cap') from has;
select is(pg_temp.orphans(), 0, 'whose jobs are removed');
select core.schedule_task('shop', 'beyond', '* * * * *', 'x');
select is((select job_id from core.scheduled_tasks where name = 'beyond'), null, 'beyond the cap there is none');
select isnt((select next_run_at from core.scheduled_tasks where name = 'beyond'), null, 'which changes nothing');
select core.alter_scheduler('{"max_cron_jobs": 10}');
select is((select count(*)::int from core.scheduled_tasks where active and job_id is not null), case when cron then 4 else 0 end, 'a higher cap') from has;
select core.alter_scheduler('{"scheduler": "nodes"}');
select is((select count(*)::int from core.cron_jobs where namespace is not null), 0, 'nodes drive: no jobs');
select core.alter_scheduler('{"scheduler": "auto"}');
select is((select count(*)::int from core.scheduled_tasks where active and job_id is not null), case when cron then 4 else 0 end, 'and all again') from has;
create role tap_reader in role nexus_reader; grant usage on schema tap to tap_reader; grant execute on all functions in schema tap to tap_reader; grant all on all tables in schema pg_temp to tap_reader; grant all on all sequences in schema pg_temp to tap_reader;
set local role tap_reader;
select is((select count(*)::int from core.cron_jobs where namespace = 'vault'), 0, 'a reader does not see those of a namespace that is hidden from him');
select is((select count(*) > 0 from core.cron_jobs where namespace = 'shop'), cron, 'but sees those of others') from has;
select is((select count(*)::int from core.task_status where namespace = 'shop' and (job_schedule is not null) = (select cron and active from has)), 4, 'task_status joins them');
select lives_ok($$select jobname, runid, status, return_message, start_time, end_time from core.cron_job_runs order by start_time desc limit 50$$, '9, for readers');
select lives_ok($$select name, cron_expression, event_type, active, updated_at from core.scheduled_tasks where namespace = 'shop'$$, '5');
select is((select count(*)::int from core.upcoming), 3, 'upcoming has what is active');
