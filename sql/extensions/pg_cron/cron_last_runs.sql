create or replace function core_private.cron_last_runs()
returns table (jobid bigint, status text, return_message text, start_time timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select distinct on (r.jobid) r.jobid, r.status, r.return_message, r.start_time from core_private.cron_job_runs() r order by r.jobid, r.runid desc
$$;
comment on function core_private.cron_last_runs() is 'The newest run of each of nexus_scheduler''s jobs.';
