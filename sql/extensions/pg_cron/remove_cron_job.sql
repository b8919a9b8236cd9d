-- owner: nexus_scheduler
-- After a restore an id may be another job's, so the name is looked at as well.
create or replace function core_private.remove_cron_job(p_job_id bigint, p_suffix text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set row_security = on
as $$
begin
    if has_schema_privilege('cron', 'usage') then
        perform cron.unschedule(j.jobid)
           from cron.job j
          where j.jobid = p_job_id
            and j.username = current_user
            and right(coalesce(j.jobname::text, ''), length(p_suffix)) = p_suffix;
    end if;
end $$;
comment on function core_private.remove_cron_job(bigint, text) is 'Removes a job from pg_cron, if it is there and its name ends so.';
