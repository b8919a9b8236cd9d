-- A task is locked before its job is touched, in the order of the task's own triggers. A task that another session
-- has locked is left out: that session keeps the job in step itself. What was found is looked for again under the
-- locks. A job that cannot be made leaves the others alone.
create or replace function core.sync_cron_jobs(p_wait boolean = false)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_closed text[] := core_private.closed_namespaces();
    v_tasks  uuid[];
    v_locked uuid[];
    v_done   text;
    v_detail text;
    v_fires  text;
    v_job    bigint;
    v_rows   jsonb := '[]';
    r        record;
begin
    if not exists (select from pg_extension e where e.extname = 'pg_cron') then
        return '"no pg_cron"';
    end if;
    if p_wait then
        perform from core_private.locks l where l.name = 'cron' for update;
    else
        perform from core_private.locks l where l.name = 'cron' for update skip locked;
        if not found then
            return '"busy elsewhere"';
        end if;
    end if;
    select array_agg(distinct d.task_id),
           case when bool_or(d.kind = 'wrong_database' and d.remedy = 'replace') then core_private.cron_database() end
      into v_tasks, v_fires
      from core_private.own_cron_drift() d
    having count(*) > 0;
    if not found then
        return v_rows;
    end if;
    select array_agg(l.task_id)
      into v_locked
      from (select t.task_id
              from core.scheduled_tasks t
             where t.task_id = any (v_tasks) and t.namespace <> all (v_closed)
             order by t.task_id
               for update skip locked) l;
    for r in
        select d.kind, d.jobid, d.jobname, d.task_id, d.namespace, d.detail, d.remedy,
               w.cron_expression, w.timezone, w.schedule, w.command,
               t.task_id is null or d.task_id = any (v_locked) as mine
          from core_private.own_cron_drift() d
          left join core_private.wanted_cron_jobs() w on d.remedy = 'replace' and w.jobname = d.jobname
          left join core.scheduled_tasks t on t.task_id = d.task_id
         order by d.remedy = 'replace', d.jobid, d.jobname
    loop
        v_done := 'named only';
        v_detail := r.detail;
        if not coalesce(r.mine, false) then
            v_detail := v_detail || '; somebody is changing the task';
        elsif r.kind = 'wrong_database' and r.remedy = 'replace' and v_fires <> current_database() then
            v_detail := v_detail || ', which is pg_cron''s (cron.database_name): nothing fires here';
        elsif r.remedy <> 'none' then
            begin
                if r.jobid is not null and r.remedy <> 'forget' then
                    perform core_private.remove_cron_job(r.jobid, coalesce(r.jobname, ''));
                end if;
                v_job := case
                    when r.remedy <> 'replace'
                    then null
                    when r.task_id is null
                    then core_private.put_cron_job(r.jobname, r.schedule, r.command)
                    else core_private.give_cron_job(r.task_id, r.namespace, r.cron_expression, r.timezone) end;
                update core.scheduled_tasks t
                   set job_id = v_job
                 where t.task_id = r.task_id
                   and t.job_id is distinct from v_job
                   and (r.remedy = 'replace' or t.job_id = r.jobid);
                v_done := 'mended';
            exception when others then
                if core_private.is_transient(sqlstate) then
                    raise;
                end if;
                v_done := 'failed';
                v_detail := v_detail || '; ' || sqlerrm;
            end;
        end if;
        v_rows := v_rows || jsonb_build_object(
            'kind', r.kind, 'jobid', r.jobid, 'jobname', r.jobname, 'task_id', r.task_id, 'namespace', r.namespace,
            'detail', v_detail, 'done', v_done);
    end loop;
    return v_rows;
end $$;
comment on function core.sync_cron_jobs(boolean) is 'Makes the jobs of nexus_scheduler in pg_cron those that Nexus wants; returns what it found, with done: mended, named only or failed. A sweep of core.tick(). p_wait: for another that is at it, which makes it leave otherwise.';
