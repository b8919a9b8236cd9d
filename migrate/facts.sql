-- Who installs, where, and what this role may do here. One row.
select s.rolname::text as installer,
       s.rolsuper as superuser,
       s.rolcreaterole as creates_roles,
       has_database_privilege(s.rolname, current_database(), 'create') as creates_schemas,
       current_database()::text as database,
       current_setting('server_version_num')::integer as server_version,
       pg_is_in_recovery() as standby,
       to_regnamespace('core') is not null and to_regnamespace('core_node') is not null and to_regnamespace('core_private') is not null as has_schemas,
       coalesce((
         select array_agg(format('%s of %I', n.nspname, pg_get_userbyid(n.nspowner)) order by n.nspname)
           from pg_namespace n
          where n.nspname in ('core', 'core_node', 'core_private') and pg_get_userbyid(n.nspowner) <> 'nexus_owner'), '{}') as foreign_schemas,
       -- In the same order. What an application keeps there is neither dropped nor installed into: it gets another name.
       coalesce((
         select array_agg(case when exists (select from pg_class c where c.relnamespace = n.oid) or exists (select from pg_proc p where p.pronamespace = n.oid)
                                 or exists (select from pg_type t where t.typnamespace = n.oid)
                               then format('alter schema %I rename to %I;', n.nspname, n.nspname || '_of_' || pg_get_userbyid(n.nspowner)) else '' end order by n.nspname)
           from pg_namespace n
          where n.nspname in ('core', 'core_node', 'core_private') and pg_get_userbyid(n.nspowner) <> 'nexus_owner'), '{}') as foreign_renames,
       (select count(*) = 3
          from pg_class c
         where c.relnamespace = to_regnamespace('core_private')
           and c.relkind = 'r' and c.relname in ('schema_migrations', 'installed_objects', 'tolerated_drift')) as has_bookkeeping,
       -- Reading them runs nothing of anybody else's.
       (select coalesce(bool_and(pg_get_userbyid(c.relowner) = 'nexus_owner' and not c.relrowsecurity), false)
          from pg_class c
         where c.relnamespace = to_regnamespace('core_private')
           and c.relname in ('schema_migrations', 'installed_objects', 'tolerated_drift', 'trusted_roles', 'guarded')) as bookkeeping_owned,
       exists (select from pg_class c
                where c.relnamespace = to_regnamespace('core_private') and c.relname = 'trusted_roles' and c.relkind = 'r') as has_trusted,
       exists (select from pg_class c
                where c.relnamespace = to_regnamespace('core') and c.relname = 'queues' and c.relkind = 'r') as has_queues,
       exists (select from pg_extension where extname = 'pg_cron')
         and coalesce((select setting = current_database() from pg_settings where name = 'cron.database_name'), false) as cron_here
  from pg_roles s
 where s.rolname = session_user
