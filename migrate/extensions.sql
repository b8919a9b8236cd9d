-- The three extensions: what is there, what the installer can create, and else why not. A pgmq that was installed from its
-- SQL file counts as there. Settings are read through pg_settings, which leaves out what the installer may not see.
select x.name,
       x.present,
       x.creation,
       not x.present and x.obstacle is null as creatable,
       x.obstacle
  from (
    select w.name,
           e.oid is not null or (w.name = 'pgmq' and exists (
             select from pg_class c
              where c.relname = 'meta' and c.relnamespace = (select oid from pg_namespace where nspname = 'pgmq'))) as present,
           w.creation,
           case
             when a.name is null then 'the server does not have it'
             when w.name = 'pg_cron' and i.superuser and coalesce(l.setting, '') !~ E'\\mpg_cron\\M'
               then 'pg_cron is not in shared_preload_libraries'
             when w.name = 'pg_cron' and i.superuser and d.setting is distinct from current_database()
               then format('cron.database_name is %s', coalesce(quote_literal(d.setting), 'not set'))
             when v.superuser and not v.trusted and not i.superuser then 'only a superuser can create it'
             when not i.creates then format('%I lacks CREATE on the database', session_user)
           end as obstacle
      from (values
        ('pgmq', 'create extension pgmq'),
        ('pg_partman', 'create schema if not exists partman; create extension pg_partman schema partman'),
        ('pg_cron', 'create extension pg_cron')
      ) w (name, creation)
     cross join (
       select r.rolsuper as superuser, has_database_privilege(session_user, current_database(), 'create') as creates
         from pg_roles r
        where r.rolname = session_user) i
      left join pg_extension e on e.extname = w.name
      left join pg_available_extensions a on a.name = w.name
      left join pg_available_extension_versions v on v.name = a.name and v.version = a.default_version
      left join pg_settings l on l.name = 'shared_preload_libraries'
      left join pg_settings d on d.name = 'cron.database_name'
  ) x
