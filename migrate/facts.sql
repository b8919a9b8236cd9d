-- Who installs, where, and what this role may do here. One row.
select s.rolname::text as installer,
       s.rolsuper as superuser,
       s.rolcreaterole as creates_roles,
       has_database_privilege(s.rolname, current_database(), 'create') as creates_schemas,
       current_database()::text as database,
       current_setting('server_version_num')::integer as server_version,
       pg_is_in_recovery() as standby,
       to_regnamespace('core') is not null and to_regnamespace('core_private') is not null as has_schemas,
       coalesce((
         select array_agg(format('%s of %I', n.nspname, pg_get_userbyid(n.nspowner)))
           from pg_namespace n
          where n.nspname in ('core', 'core_private') and pg_get_userbyid(n.nspowner) <> 'nexus_owner'), '{}') as foreign_schemas,
       (select count(*) = 3
          from pg_class c
         where c.relnamespace = to_regnamespace('core_private')
           and c.relname in ('schema_migrations', 'installed_objects', 'tolerated_drift')) as has_bookkeeping
  from pg_roles s
 where s.rolname = session_user
