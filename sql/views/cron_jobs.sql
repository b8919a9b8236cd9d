create or replace view core.cron_jobs with (security_barrier = true) as
select j.jobid, j.jobname, j.schedule, j.command, j.nodename, j.nodeport, j.database, j.username, j.active,
       j.namespace, j.task_id
  from core_private.cron_jobs() j
 where j.namespace is null or j.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.cron_jobs is 'The jobs of Nexus in pg_cron, which hides them from all but their owner: its upkeep (namespace is NULL), and those of tasks. Empty without pg_cron.';
comment on column core.cron_jobs.jobid is 'The job in pg_cron.';
comment on column core.cron_jobs.jobname is 'nexus:… for upkeep, the namespace and the task''s id for tasks.';
comment on column core.cron_jobs.schedule is 'When it runs, in pg_cron''s form, UTC unless the server says otherwise.';
comment on column core.cron_jobs.command is 'The SQL it runs.';
comment on column core.cron_jobs.nodename is 'Host pg_cron connects to.';
comment on column core.cron_jobs.nodeport is 'Port pg_cron connects to.';
comment on column core.cron_jobs.database is 'Database the job runs in.';
comment on column core.cron_jobs.username is 'Role it runs as: nexus_scheduler.';
comment on column core.cron_jobs.active is 'Whether pg_cron runs it.';
comment on column core.cron_jobs.namespace is 'The namespace of the task; NULL for upkeep.';
comment on column core.cron_jobs.task_id is 'The task; NULL for upkeep.';
