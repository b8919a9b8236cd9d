-- As the caller, who may see more in pg_cron than the owner of Nexus.
create or replace function core.cron_drift()
returns table (kind text, jobid bigint, jobname text, task_id uuid, namespace text, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from pg_extension e where e.extname = 'pg_cron') then
        raise notice 'there is no pg_cron in this database: nodes fire tasks and do the upkeep';
    end if;
    return query
        select d.kind, d.jobid, d.jobname, d.task_id, d.namespace, d.detail
          from core.cron_drift d
         order by d.kind, d.jobname, d.jobid;
end $$;
comment on function core.cron_drift() is 'The rows of the view core.cron_drift, in order; a notice says when there is no pg_cron.';
