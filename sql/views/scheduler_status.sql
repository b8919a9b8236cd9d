create or replace view core.scheduler_status as
select s.scheduler, s.max_cron_jobs, s.keep_slots, s.last_tick_at, (select core.now()) - s.last_tick_at as tick_age,
       exists (select from pg_catalog.pg_extension e where e.extname = 'pg_cron') as pg_cron,
       (select count(*) from core_private.cron_slots c where c.task_id is not null) as cron_jobs
  from core_private.scheduler s;
comment on view core.scheduler_status is 'How tasks are driven, and when due ones were last looked for, to 5 s.';
