-- owner: nexus_scheduler
-- Job names are unique per owner, so the owner never changes: whoever installs, this function's owner schedules.
create or replace function core_private.ensure_jobs()
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_made jsonb := '[]';
    r      record;
begin
    if not exists (select from pg_extension e where e.extname = 'pg_cron') then
        return '"no pg_cron"';
    end if;
    for r in
        select * from (values
            ('nexus:tick', '* * * * *', 'select core.tick()'),
            ('nexus:partitions', '17 * * * *', 'select core.run_sweep(''partitions'')'),
            ('nexus:retention', '43 3 * * *', 'select core.run_sweep(''retention'')'),
            ('nexus:job_run_details', '29 4 * * *', 'select core.run_sweep(''job_run_details'')'),
            ('nexus:timezones', '11 4 * * *', 'select core.run_sweep(''timezones'')')) j(name, schedule, command)
    loop
        -- Scheduling again would reload the launcher for nothing, and would not wake a job that somebody switched off.
        continue when exists (select from cron.job c where c.jobname = r.name and c.schedule = r.schedule and c.command = r.command
                                 and c.database = current_database() and c.active and c.username = current_user);
        perform cron.unschedule(c.jobid) from cron.job c where c.jobname = r.name and c.username = current_user;
        perform cron.schedule(r.name, r.schedule, r.command);
        v_made := v_made || to_jsonb(r.name);
    end loop;
    return v_made;
end $$;
comment on function core_private.ensure_jobs() is 'Creates the pg_cron jobs of Nexus that are missing or differ; returns their names.';
