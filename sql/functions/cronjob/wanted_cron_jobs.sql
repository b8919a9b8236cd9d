-- Whatever is free of the cap belongs to the oldest tasks that have no job: pg_cron may have come, or jobs may have
-- gone, after them.
create or replace function core_private.wanted_cron_jobs()
returns table (
    task_id uuid, namespace text, job_id bigint,
    jobname text, schedule text, command text,
    cron_expression text, timezone text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    with t as (
        select t.task_id, t.namespace, t.job_id, t.cron_expression, t.timezone
          from core_private.cron_slots c
          join core.scheduled_tasks t on t.task_id = c.task_id and t.active
         union all
        (select t.task_id, t.namespace, t.job_id, t.cron_expression, t.timezone
           from core.scheduled_tasks t
          where t.active and not exists (select from core_private.cron_slots c where c.task_id = t.task_id)
          order by t.created_at, t.task_id
          limit (select count(*) from core_private.cron_slots c where c.task_id is null)))
    select t.task_id, t.namespace, t.job_id,
           t.namespace || ':' || replace(t.task_id::text, '-', ''),
           core_private.cron_superset(t.cron_expression, t.timezone),
           format('SELECT core.run_scheduled_task(%L)', t.task_id),
           t.cron_expression, t.timezone
      from t
     union all
    select null, null, null, u.jobname, u.schedule, u.command, null, null
      from core_private.upkeep_jobs() u
$$;
comment on function core_private.wanted_cron_jobs() is 'The jobs that pg_cron ought to have: those of tasks, as many as may have one, and the upkeep.';
