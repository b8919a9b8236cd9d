create or replace function core_private.upkeep_jobs()
returns table (jobname text, schedule text, command text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    values ('nexus:tick', '* * * * *', 'select core.tick()'),
           ('nexus:partitions', '17 * * * *', 'select core.run_sweep(''partitions'')'),
           ('nexus:retention', '43 3 * * *', 'select core.run_sweep(''retention'')'),
           ('nexus:job_run_details', '29 4 * * *', 'select core.run_sweep(''job_run_details'')'),
           ('nexus:timezones', '11 4 * * *', 'select core.run_sweep(''timezones'')')
$$;
comment on function core_private.upkeep_jobs() is 'The jobs that Nexus itself has in pg_cron.';
