-- owner: nexus_scheduler
-- Dynamic, since the tables need not be there. The length stands outside the expression: a bounded repetition makes the
-- match many times slower.
create or replace function core_private.cron_jobs()
returns table (
    jobid bigint, jobname text, schedule text, command text,
    nodename text, nodeport integer, database text, username text, active boolean,
    namespace text, task_id uuid)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set row_security = on
as $$
begin
    if exists (select from pg_extension e where e.extname = 'pg_cron') and has_schema_privilege('cron', 'usage') then
        return query execute $q$
            select j.jobid, j.jobname::text, j.schedule, j.command,
                   j.nodename, j.nodeport, j.database, j.username, j.active,
                   case when m.is_task then left(j.jobname::text, -33) end,
                   case when m.is_task then right(j.jobname::text, 32)::uuid end
              from cron.job j
             cross join lateral (
                   select j.jobname::text ~ '^[a-z][a-z0-9_-]*:[0-9a-f]+$'
                          and left(right(j.jobname::text, 33), 1) = ':' as is_task) m
             where j.username = current_user $q$;
    end if;
end $$;
comment on function core_private.cron_jobs() is 'The jobs of nexus_scheduler in pg_cron, with namespace and task of those of tasks.';
