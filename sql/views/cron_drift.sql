-- offset 0 holds back conditions of the reader's, which would be asked of rows that are hidden: security_barrier does not reach into the
-- branches of a union.
create or replace view core.cron_drift as
(select d.kind, d.jobid, d.jobname, d.task_id, d.namespace, d.detail
   from core_private.own_cron_drift() d
  where d.namespace is null or d.namespace = any ((select core_private.namespaces_read_by(current_user))::text[])
 offset 0)
 union all
select o.kind, o.jobid, o.jobname, o.task_id, o.namespace, o.detail from core_private.others_cron_jobs() o;
comment on view core.cron_drift is 'Where pg_cron''s jobs are not those that Nexus wants: missing, altered, deactivated, duplicated, orphaned, wrong_database, foreign_owner; not_visible is what the reader may not see of it. Empty without pg_cron.';
