-- owner: nexus_scheduler
-- An installation without the right to use pg_cron goes without jobs.
create or replace function core_private.put_cron_job(p_name text, p_schedule text, p_command text)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set row_security = on
as $$
begin
    return case when has_schema_privilege('cron', 'usage') then cron.schedule(p_name, p_schedule, p_command) end;
end $$;
comment on function core_private.put_cron_job(text, text, text) is 'Makes a job in pg_cron, or alters the one of that name; returns its id.';
