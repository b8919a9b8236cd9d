-- As the caller: mending is the definer's, but only the caller's own eyes see the jobs of others.
create or replace function core.repair_cron()
returns table (kind text, jobid bigint, jobname text, task_id uuid, namespace text, detail text, done text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from pg_extension e where e.extname = 'pg_cron') then
        raise notice 'there is no pg_cron in this database: nodes fire tasks and do the upkeep';
        return;
    end if;
    return query
        select s.kind, s.jobid, s.jobname, s.task_id, s.namespace, s.detail, s.done
          from jsonb_to_recordset(core.sync_cron_jobs(true)) s(
                   kind text, jobid bigint, jobname text, task_id uuid, namespace text, detail text, done text);
    return query
        select d.kind, d.jobid, d.jobname, d.task_id, d.namespace, d.detail, 'named only'
          from core.cron_drift d
         where d.kind = 'foreign_owner'
            or d.kind = 'not_visible' and d.detail not like 'nexus_scheduler %';
end $$;
comment on function core.repair_cron() is 'Mends what core.cron_drift() shows, now, and says what was done: mended, named only (jobs of others are never touched) or failed.';
