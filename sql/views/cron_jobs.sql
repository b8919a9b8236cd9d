create or replace view core.cron_jobs with (security_barrier = true) as
select j.jobid, j.jobname, j.schedule, j.command, j.nodename, j.nodeport, j.database, j.username, j.active, j.namespace, j.task_id
  from core_private.cron_jobs() j
 where j.namespace is null or j.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.cron_jobs is 'The jobs of Nexus in pg_cron, which hides them from all but their owner: its upkeep (namespace is NULL), and those of tasks. Empty without pg_cron.';
