create or replace view core.cron_job_runs with (security_barrier = true) as
select r.jobid, j.jobname, r.runid, r.status, r.return_message, r.start_time, r.end_time, j.namespace, j.task_id
  from core_private.cron_job_runs() r join core_private.cron_jobs() j using (jobid)
 where j.namespace is null or j.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.cron_job_runs is 'The newest 10,000 runs of the jobs in core.cron_jobs, as pg_cron recorded them.';
comment on column core.cron_job_runs.jobid is 'The job in pg_cron.';
comment on column core.cron_job_runs.jobname is 'Its name.';
comment on column core.cron_job_runs.runid is 'Counts up over all jobs of the server.';
comment on column core.cron_job_runs.status is 'As pg_cron writes it: starting, running, sending, connecting, succeeded or failed.';
comment on column core.cron_job_runs.return_message is 'What the command returned, or its error.';
comment on column core.cron_job_runs.start_time is 'When the run began; NULL before.';
comment on column core.cron_job_runs.end_time is 'When it ended; NULL before.';
comment on column core.cron_job_runs.namespace is 'The namespace of the task; NULL for upkeep.';
comment on column core.cron_job_runs.task_id is 'The task; NULL for upkeep.';
