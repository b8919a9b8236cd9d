create or replace view core.scheduler_status as
select s.scheduler, s.max_cron_jobs, s.keep_slots, s.last_tick_at, (select core.now()) - s.last_tick_at as tick_age,
       exists (select from pg_catalog.pg_extension e where e.extname = 'pg_cron') as pg_cron,
       (select count(*) from core_private.cron_slots c where c.task_id is not null) as cron_jobs
  from core_private.scheduler s;
comment on view core.scheduler_status is 'How tasks are driven, and when due ones were last looked for, to 5 s.';
comment on column core.scheduler_status.scheduler is 'Who fires tasks: pg_cron (nodes step in when it is overdue), nodes, auto (both).';
comment on column core.scheduler_status.max_cron_jobs is 'How many tasks may have a job of their own in pg_cron.';
comment on column core.scheduler_status.keep_slots is 'How long core.task_slots and core.task_runs are kept.';
comment on column core.scheduler_status.last_tick_at is 'When due tasks were last looked for, to 5 s.';
comment on column core.scheduler_status.tick_age is 'Time since then.';
comment on column core.scheduler_status.pg_cron is 'Whether the extension is there.';
comment on column core.scheduler_status.cron_jobs is 'How many tasks have a job of their own.';
