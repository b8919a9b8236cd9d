-- What the roles of Nexus need on the extensions' objects, one row an object: whether they have it, and else whether the
-- installer can grant it. An extension that is not there needs nothing. Rights on pg_cron are wished for, not required:
-- without them nodes drive the ticks.
with wanted (kind, object, name, privilege, grantee, required) as (
  -- pgmq: nexus_owner creates and drops queues, which the functions of pgmq do with the rights of their caller
  select 'schema', n.oid, quote_ident(n.nspname), p.privilege, 'nexus_owner', true
    from pg_namespace n
   cross join (values ('usage'), ('create')) p (privilege)
   where n.nspname = 'pgmq'
  union all
  -- operators read, send and delete by hand, with pgmq's own functions
  select 'schema', n.oid, quote_ident(n.nspname), 'usage', g.grantee, false
    from pg_namespace n
   cross join (values ('nexus_operator'), ('nexus_reader')) g (grantee)
   where n.nspname = 'pgmq'
  union all
  select 'table', c.oid, format('%I.%I', n.nspname, c.relname), p.privilege, 'nexus_owner', true
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   cross join (values ('select'), ('insert'), ('update'), ('delete')) p (privilege)
   where n.nspname = 'pgmq' and c.relname in ('meta', 'topic_bindings', 'notify_insert_throttle')
  union all
  select 'routine', f.oid, format('%I.%I(%s)', n.nspname, f.proname, pg_get_function_identity_arguments(f.oid)), 'execute',
         'nexus_owner', true
    from pg_proc f
    join pg_namespace n on n.oid = f.pronamespace
   where n.nspname = 'pgmq'
  union all
  -- pg_partman, in whatever schema it is: nexus_owner keeps the partitions of the event log
  select 'schema', n.oid, quote_ident(n.nspname), p.privilege, 'nexus_owner', true
    from pg_extension e
    join pg_namespace n on n.oid = e.extnamespace
   cross join (values ('usage'), ('create')) p (privilege)
   where e.extname = 'pg_partman'
  union all
  select 'table', c.oid, format('%I.%I', n.nspname, c.relname), p.privilege, 'nexus_owner', true
    from pg_extension e
    join pg_depend d on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
                    and d.classid = 'pg_class'::regclass
    join pg_class c on c.oid = d.objid and c.relkind in ('r', 'p')
    join pg_namespace n on n.oid = c.relnamespace
   cross join (values ('select'), ('insert'), ('update'), ('delete')) p (privilege)
   where e.extname = 'pg_partman'
  union all
  select 'routine', f.oid, format('%I.%I(%s)', n.nspname, f.proname, pg_get_function_identity_arguments(f.oid)), 'execute',
         'nexus_owner', true
    from pg_extension e
    join pg_depend d on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
                    and d.classid = 'pg_proc'::regclass
    join pg_proc f on f.oid = d.objid
    join pg_namespace n on n.oid = f.pronamespace
   where e.extname = 'pg_partman'
  union all
  -- pg_cron: nexus_scheduler owns the jobs, nexus_owner has to find out that pg_cron is there
  select 'schema', n.oid, quote_ident(n.nspname), 'usage', g.grantee, false
    from pg_extension e
    join pg_namespace n on n.nspname = 'cron'
   cross join (values ('nexus_owner'), ('nexus_scheduler')) g (grantee)
   where e.extname = 'pg_cron'
  union all
  select 'table', c.oid, format('%I.%I', n.nspname, c.relname), p.privilege, 'nexus_scheduler', false
    from pg_extension e
    join pg_namespace n on n.nspname = 'cron'
    join (values ('job', 'select'), ('job_run_details', 'select'), ('job_run_details', 'delete')) p (name, privilege) on true
    join pg_class c on c.relnamespace = n.oid and c.relname = p.name
   where e.extname = 'pg_cron'
  union all
  select 'routine', f.oid, format('%I.%I(%s)', n.nspname, f.proname, pg_get_function_identity_arguments(f.oid)), 'execute',
         'nexus_scheduler', false
    from pg_extension e
    join pg_namespace n on n.nspname = 'cron'
    join pg_proc f on f.pronamespace = n.oid and f.proname in ('schedule', 'unschedule', 'alter_job')
   where e.extname = 'pg_cron'
),
judged as (
  select w.*, g.oid is not null as grantee_exists,
         case w.kind
           when 'schema' then coalesce(has_schema_privilege(g.oid, w.object, w.privilege),
                                       has_schema_privilege('public', w.object, w.privilege))
           when 'table' then coalesce(has_table_privilege(g.oid, w.object, w.privilege),
                                      has_table_privilege('public', w.object, w.privilege))
           else coalesce(has_function_privilege(g.oid, w.object, w.privilege),
                         has_function_privilege('public', w.object, w.privilege))
         end as held,
         case w.kind
           when 'schema' then has_schema_privilege(session_user, w.object, w.privilege || ' with grant option')
           when 'table' then has_table_privilege(session_user, w.object, w.privilege || ' with grant option')
           else has_function_privilege(session_user, w.object, w.privilege || ' with grant option')
         end as grantable
    from wanted w
    left join pg_roles g on g.rolname = w.grantee
)
select j.required,
       bool_and(j.grantable) as grantable,
       format('grant %s on %s %s to %I', string_agg(j.privilege, ', '), j.kind, j.name, j.grantee) as statement,
       case when j.grantee_exists
         then format('grant %s on %s %s to %I;', string_agg(j.privilege, ', '), j.kind, j.name, j.grantee)
         else format('grant %s on %s %s to %I with grant option;', string_agg(j.privilege, ', '), j.kind, j.name, session_user)
       end as mend
  from judged j
 where not j.held
 group by j.required, j.kind, j.object, j.name, j.grantee, j.grantee_exists
 order by j.required desc, min(array_position(array['schema', 'table', 'routine'], j.kind)), j.name, j.grantee
