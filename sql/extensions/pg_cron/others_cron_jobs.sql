-- What a job does makes it one of Nexus's, and not its name: somebody's own "nexus:…" is his. Of a role that is gone it
-- does nothing.
--
-- As the caller: a policy of cron.job hides the jobs of other roles from all but superusers, without an error.
create or replace function core_private.others_cron_jobs()
returns table (kind text, jobid bigint, jobname text, task_id uuid, namespace text, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set row_security = on
as $$
begin
    if not exists (select from pg_extension e where e.extname = 'pg_cron') then
        return;
    end if;
    if not has_schema_privilege('cron', 'usage') or not has_table_privilege('cron.job', 'select')
       or row_security_active('cron.job') then
        return query select 'not_visible', null::bigint, null::text, null::uuid, null::text,
            format('jobs of roles other than nexus_scheduler, to %s: ask as a superuser', quote_ident(current_user));
        return;
    end if;
    return query execute $q$
        select 'foreign_owner', j.jobid, j.jobname::text, m.x[2]::uuid, m.x[1],
               format('it belongs to %s%s: select cron.unschedule(%s);',
                      j.username,
                      case when r.rolname is null
                           then ', a role that does not exist, which stops every job of this server' end,
                      j.jobid)
          from cron.job j
          left join pg_roles r on r.rolname::text = j.username::text
         cross join lateral (
               select coalesce(
                          regexp_match(j.jobname::text, '^([a-z][a-z0-9_-]*):([0-9a-f]{32})$'),
                          array[null, (regexp_match(
                              j.command,
                              'core[.]run_scheduled_task[(]''([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'''))[1]]
                      ) as x) m
         where j.username::text <> 'nexus_scheduler' and j.database = current_database()
           and (m.x[2] is not null
                or r.rolname is null and j.jobname::text like 'nexus:%'
                or j.command ~* '(^|[^a-z0-9_.])core[.](tick|run_sweep|fire_due)[[:space:]]*[(]') $q$;
end $$;
comment on function core_private.others_cron_jobs() is 'Jobs in pg_cron that do what Nexus''s do and belong to other roles, as far as the caller may see them.';
