-- One look at both sides: in one snapshot a task and its job agree, whoever is changing them. remedy is for
-- core.sync_cron_jobs.
--
-- What a job does makes it one of Nexus's, and not its name or owner: one that a superuser gave nexus_scheduler and
-- that calls nothing of core is his.
create or replace function core_private.own_cron_drift()
returns table (kind text, jobid bigint, jobname text, task_id uuid, namespace text, detail text, remedy text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from pg_extension e where e.extname = 'pg_cron') then
        return;
    end if;
    if not has_schema_privilege('nexus_scheduler', 'cron', 'usage') then
        return query select 'not_visible', null::bigint, null::text, null::uuid, null::text,
            'nexus_scheduler may not use pg_cron, so there are no jobs of Nexus: '
            || 'grant usage on schema cron to nexus_scheduler;',
            'none';
        return;
    end if;
    return query
    with wanted as materialized (select * from core_private.wanted_cron_jobs()),
    job as materialized (
        select j.*,
               coalesce(
                   j.task_id,
                   (regexp_match(
                       j.command,
                       'core[.]run_scheduled_task[(]''([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'''))[1]::uuid
               ) as of_task,
               j.database = current_database() as here,
               lower(btrim(regexp_replace(j.command, '[[:space:]]+', ' ', 'g'), ' ;')) as does
          from core_private.cron_jobs() j),
    compared as (
        select w.task_id, w.namespace, w.jobname, j.jobid, j.here, j.active,
               concat_ws(', ',
                   case when not j.here then format('it runs in database %s', j.database) end,
                   case when not j.active then 'it is switched off' end,
                   case when j.schedule <> w.schedule then
                       format('its schedule is %s, not %s', j.schedule, w.schedule) end,
                   case when j.command <> w.command then
                       format('its command is %s, not %s', left(j.command, 200), w.command) end,
                   case when j.nodeport <> current_setting('port')::integer then
                       format('it connects to port %s, not %s', j.nodeport, current_setting('port')) end,
                   case when w.task_id is not null and w.job_id is distinct from j.jobid then
                       format('job_id of the task is %s, not %s', coalesce(w.job_id::text, 'NULL'), j.jobid) end
               ) as says
          from wanted w
          left join job j on j.jobname = w.jobname),
    spare as (
        select j.jobid, j.jobname, j.of_task, j.here, j.does,
               t.task_id, coalesce(t.namespace, n.namespace) as namespace, t.active, j.database,
               exists (select from wanted w where w.task_id = j.of_task) as twice,
               u.jobname as same
          from job j
          left join core.scheduled_tasks t on t.task_id = j.of_task
          left join core.namespaces n on n.namespace = j.namespace
          left join core_private.upkeep_jobs() u on u.command = j.does
         where not exists (select from wanted w where w.jobname = j.jobname)
           and (j.of_task is not null or u.jobname is not null
                or j.jobname like 'nexus:%' and j.command ~* '(^|[^a-z0-9_.])core[.][a-z_]+[[:space:]]*[(]'))
    select case when c.jobid is null then 'missing'
                when not c.here then 'wrong_database'
                when not c.active then 'deactivated'
                else 'altered' end,
           c.jobid, c.jobname, c.task_id, c.namespace,
           case when c.jobid is null then 'pg_cron has no such job' else c.says end,
           'replace'
      from compared c
     where c.jobid is null or c.says <> ''
     union all
    select case when not s.here then 'wrong_database'
                when s.twice or s.of_task is null and s.same is not null then 'duplicated'
                else 'orphaned' end,
           s.jobid, s.jobname, s.of_task, s.namespace,
           case when not s.here and s.task_id is null
                then format('it runs in database %s, for what is not in this one', s.database)
                when not s.here then format('it runs in database %s', s.database)
                when s.twice then 'the task has another job'
                when s.of_task is null and s.same is not null then format('it does what %s does', s.same)
                when s.of_task is null then 'Nexus has no such job'
                when s.task_id is null then 'its task is gone'
                when not s.active then 'its task is paused'
                else 'its task is beyond the cap of jobs' end,
           case when s.task_id is not null or s.here and (s.of_task is not null or s.same is not null)
                then 'remove'
                else 'none' end
      from spare s
     union all
    -- The id of a job that is gone, left by a restore or by whoever unscheduled it.
    select 'orphaned', t.job_id, null, t.task_id, t.namespace,
           format('job_id of the task is %s, and it has no job', t.job_id),
           'forget'
      from core.scheduled_tasks t
     where t.job_id is not null
       and not exists (select from wanted w where w.task_id = t.task_id)
       and not exists (select from job j where j.of_task = t.task_id);
end $$;
comment on function core_private.own_cron_drift() is 'Where the jobs of nexus_scheduler in pg_cron are not those that Nexus wants, and how that is mended.';
