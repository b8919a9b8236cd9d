create or replace view core.cron_job_runs with (security_barrier = true) as
select r.jobid, j.jobname, r.runid, r.status, r.return_message, r.start_time, r.end_time, j.namespace, j.task_id
  from core_private.cron_job_runs() r join core_private.cron_jobs() j using (jobid)
 where j.namespace is null or j.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.cron_job_runs is 'The newest 10,000 runs of the jobs in core.cron_jobs, as pg_cron recorded them.';
