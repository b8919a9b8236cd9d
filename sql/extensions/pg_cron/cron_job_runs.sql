-- owner: nexus_scheduler
-- By runid, the only index there is.
create or replace function core_private.cron_job_runs()
returns table (
    jobid bigint, runid bigint, status text, return_message text, start_time timestamptz, end_time timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set row_security = on
as $$
begin
    if exists (select from pg_extension e where e.extname = 'pg_cron') and has_schema_privilege('cron', 'usage') then
        return query execute $q$
            select d.jobid, d.runid, d.status, d.return_message, d.start_time, d.end_time
              from cron.job_run_details d
             where d.username = current_user
             order by d.runid desc
             limit 10000 $q$;
    end if;
end $$;
comment on function core_private.cron_job_runs() is 'The newest runs of nexus_scheduler''s jobs.';
