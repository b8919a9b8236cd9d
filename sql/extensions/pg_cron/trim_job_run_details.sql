-- owner: nexus_scheduler
-- By runid, the only index there is, in one bounded step.
create or replace function core_private.trim_job_run_details(p_limit integer = 50000)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set row_security = on
as $$
declare
    v_before timestamptz := clock_timestamp() - interval '7 days';
    v_n      integer := 0;
begin
    if exists (select from pg_extension e where e.extname = 'pg_cron') then
        delete from cron.job_run_details d
         using (select x.runid from cron.job_run_details x order by x.runid limit p_limit) old
         where d.runid = old.runid and coalesce(d.end_time, d.start_time) < v_before;
        get diagnostics v_n = row_count;
    end if;
    return v_n;
end $$;
comment on function core_private.trim_job_run_details(integer) is 'Removes runs of nexus_scheduler''s jobs after seven days; returns how many.';
