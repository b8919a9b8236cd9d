-- 8 and 9: pg_cron's own tables, as nexus_scheduler and as a superuser
-- holds: P1
create temporary table has as select exists (select from pg_extension where extname = 'pg_cron') as cron;
select core.sync_cron_jobs();
grant usage on schema tap to nexus_scheduler, nexus_reader; grant execute on all functions in schema tap to nexus_scheduler, nexus_reader;
grant all on all tables in schema pg_temp to nexus_scheduler, nexus_reader; grant all on all sequences in schema pg_temp to nexus_scheduler, nexus_reader;
create temporary view jobs as select case when cron then query_to_xml('select jobid, schedule, command, nodename, nodeport, database, username, active from cron.job where jobname like ''%nexus%''', true, true, '')::text end as x from has;
select ok((select x like '%core.tick%' and x like '%nexus_scheduler%' from jobs) is not false, '8 as a superuser');
set local role nexus_scheduler;
select ok(not cron or (select count(*) = 5 and bool_and(username = 'nexus_scheduler' and active) from cron.job where jobname like '%nexus%'), '8 as nexus_scheduler') from has;
select lives_ok($$select j.jobname, d.runid, d.status, d.return_message, d.start_time, d.end_time from cron.job j join cron.job_run_details d using (jobid) order by d.start_time desc limit 50$$, '9');
reset role;
set local role nexus_reader;
select throws_ok('select core.sync_cron_jobs()', '42501', null, 'a reader schedules nothing');
