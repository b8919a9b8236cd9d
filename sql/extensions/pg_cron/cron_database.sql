-- owner: nexus_scheduler
-- The setting that names it is hidden from all but superusers, so a job is made and undone. A copy of pg_cron's
-- database, as a template makes it, has the extension and its jobs, and nothing fires there.
create or replace function core_private.cron_database()
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set row_security = on
as $$
declare
    v_job      bigint;
    v_database text;
begin
    begin
        v_job := cron.schedule('nexus:probe', '0 0 1 1 *', 'select 1');
        select j.database into v_database from cron.job j where j.jobid = v_job;
        raise exception using errcode = 'NXDRY';
    exception when sqlstate 'NXDRY' then
        return v_database;
    end;
end $$;
comment on function core_private.cron_database() is 'The database in which pg_cron runs the jobs that are made here.';
