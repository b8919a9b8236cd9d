-- offset 0 holds back conditions of the reader's, which would be asked of rows that are hidden: security_barrier does
-- not reach into the branches of a union.
create or replace view core.cron_drift as
(select d.kind, d.jobid, d.jobname, d.task_id, d.namespace, d.detail
   from core_private.own_cron_drift() d
  where d.namespace is null or d.namespace = any ((select core_private.namespaces_read_by(current_user))::text[])
 offset 0)
 union all
select o.kind, o.jobid, o.jobname, o.task_id, o.namespace, o.detail from core_private.others_cron_jobs() o;
comment on view core.cron_drift is 'Where pg_cron''s jobs are not those that Nexus wants: missing, altered, deactivated, duplicated, orphaned, wrong_database, foreign_owner; not_visible is what the reader may not see of it. Empty without pg_cron.';
comment on column core.cron_drift.kind is 'missing, altered, deactivated, duplicated, orphaned, wrong_database, foreign_owner or not_visible.';
comment on column core.cron_drift.jobid is 'The job in pg_cron; NULL where there is none.';
comment on column core.cron_drift.jobname is 'Its name, or the one it should have.';
comment on column core.cron_drift.task_id is 'The task it is for; NULL for upkeep, and where that is not known.';
comment on column core.cron_drift.namespace is 'The namespace of the task; NULL for upkeep.';
comment on column core.cron_drift.detail is 'What is wrong, in words.';
