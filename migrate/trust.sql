-- What lies where the code of Nexus, or what it calls, is looked up, and belongs to somebody whom nobody trusted with it; and what the
-- roles of Nexus may that they should not. One row a finding, with the line that mends it. Trusted are superusers and who may
-- become one, the installer, the roles that it may become, those who installed before, those named to it, and the database's owner.
-- Before PostgreSQL 16 CREATEROLE could become any role but a superuser anyhow. Where Nexus is not installed yet, a schema core is an
-- application's: whatever is found in it, the mend is another name for it as a whole.
with installer as (
  select r.oid, r.rolname, r.rolsuper from pg_roles r where r.rolname = session_user
),
wanted (name, login, owns) as (values
  ('nexus_owner', false, true), ('nexus_scheduler', true, true), ('nexus_guard', false, true), ('nexus_sql', true, false),
  ('nexus_reader', false, false), ('nexus_producer', false, false), ('nexus_consumer', false, false), ('nexus_operator', false, false),
  ('nexus_admin', false, false)
),
trusted as (
  select r.oid
    from pg_roles r
   cross join installer i
   where r.rolsuper
      or r.oid = i.oid
      or r.rolname in ('nexus_owner', 'nexus_scheduler', 'nexus_guard', 'pg_database_owner')
      or r.rolname = any ($trusted$)
      or (not i.rolsuper and pg_has_role(i.oid, r.oid, 'member'))
      or r.oid = (select d.datdba from pg_database d where d.datname = current_database())
      or (r.rolcreaterole and current_setting('server_version_num')::integer < 160000)
      or exists (select from pg_roles s where s.rolsuper and pg_has_role(r.oid, s.oid, 'member'))
),
spaces as (
  select n.oid, n.nspname, n.nspowner, n.nspacl, n.nspname in ('core', 'core_node', 'core_private') as ours
    from pg_namespace n
   where n.nspname in ('core', 'core_node', 'core_private', 'pgmq', 'partman')
      or n.oid in (select e.extnamespace from pg_extension e where e.extname = 'pg_partman')
),
things (class, oid, space, owner) as (
  select 'pg_proc'::regclass, p.oid, p.pronamespace, p.proowner from pg_proc p
   union all
  select 'pg_operator'::regclass, o.oid, o.oprnamespace, o.oprowner from pg_operator o
   union all
  select 'pg_type'::regclass, t.oid, t.typnamespace, t.typowner from pg_type t
   where t.typrelid = 0 and t.typelem = 0 or t.typtype in ('d', 'e')
      or exists (select from pg_class c where c.oid = t.typrelid and c.relkind = 'c')
   union all
  select 'pg_class'::regclass, c.oid, c.relnamespace, c.relowner
    from pg_class c
    join spaces s on s.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
     and (s.ours or c.relname in ('meta', 'topic_bindings', 'notify_insert_throttle', 'part_config', 'part_config_sub'))
),
installed (yes) as (
  select exists (select from pg_class c join spaces s on s.oid = c.relnamespace and s.nspname = 'core_private'
                  where c.relname = 'schema_migrations' and c.relowner in (select t.oid from trusted t))
),
named as (
  select s.*, case when s.ours and not i.yes then format('alter schema %I rename to %I;', s.nspname, s.nspname || '_of_' || pg_get_userbyid(s.nspowner)) end as away
    from spaces s cross join installed i
),
found (part, name, what, mend) as (
  select 1, s.nspname, format('the schema %I belongs to %I', s.nspname, pg_get_userbyid(s.nspowner)),
         coalesce(s.away, format('alter schema %I owner to %s;', s.nspname, case when s.ours then 'nexus_owner' else quote_ident(session_user) end))
    from named s
   where s.nspowner not in (select t.oid from trusted t)
  union all
  select 2, s.nspname, format('%s may create in the schema %I', case a.grantee when 0 then 'everybody' else quote_ident(pg_get_userbyid(a.grantee)) end, s.nspname),
         coalesce(s.away, format('revoke create on schema %I from %s;', s.nspname, case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end))
    from named s
   cross join aclexplode(s.nspacl) a
   where a.privilege_type = 'CREATE' and a.grantee <> s.nspowner and a.grantee not in (select t.oid from trusted t)
  union all
  select 3, d.identity, format('the %s %s belongs to %I', d.type, d.identity, pg_get_userbyid(g.owner)),
         case when s.away is not null then s.away
              when x.refobjid is null then format('drop %s %s;', d.type, d.identity)
              else format('drop extension %I cascade; -- and create it as %I', e.extname, session_user) end
    from things g
    join named s on s.oid = g.space
   cross join pg_identify_object(g.class, g.oid, 0) d
    left join pg_depend x on x.classid = g.class and x.objid = g.oid and x.deptype = 'e' and x.refclassid = 'pg_extension'::regclass
    left join pg_extension e on e.oid = x.refobjid
   where g.owner not in (select t.oid from trusted t)
     and not (s.away is not null and s.nspowner not in (select t.oid from trusted t)) -- goes with its schema
  union all
  select 4, r.rolname, format('the role %I has %s', r.rolname, array_to_string(b.names, ', ')),
         format('alter role %I %s;', r.rolname, (select string_agg('no' || lower(n), ' ') from unnest(b.names) n))
    from wanted w
    join pg_roles r on r.rolname = w.name
   cross join lateral (select array_remove(array[case when r.rolsuper then 'SUPERUSER' end, case when r.rolcreaterole then 'CREATEROLE' end,
                case when r.rolcreatedb then 'CREATEDB' end, case when r.rolreplication then 'REPLICATION' end,
                case when r.rolbypassrls then 'BYPASSRLS' end, case when r.rolcanlogin and not w.login then 'LOGIN' end], null) as names) b
   where b.names <> '{}'
  union all
  select 5, r.rolname, format('the role %I is a member of %I', r.rolname, g.rolname), format('revoke %I from %I;', g.rolname, r.rolname)
    from wanted w
    join pg_roles r on r.rolname = w.name
    join pg_auth_members m on m.member = r.oid
    join pg_roles g on g.oid = m.roleid
   where case when w.owns or w.name = 'nexus_sql' then (w.name, g.rolname) <> ('nexus_owner', 'pg_read_all_stats')
              else g.rolsuper or exists (select from pg_roles h where (h.rolsuper or h.rolname in ('nexus_owner', 'nexus_scheduler', 'nexus_guard'))
                                            and pg_has_role(g.oid, h.oid, 'member')) end
  union all
  select 6, r.rolname, format('%I is a member of the role %I', u.rolname, r.rolname), format('revoke %I from %I;', r.rolname, u.rolname)
    from wanted w
    join pg_roles r on r.rolname = w.name
    join pg_auth_members m on m.roleid = r.oid
    join pg_roles u on u.oid = m.member
   where w.owns and m.member not in (select t.oid from trusted t)
)
select f.what, min(f.mend) as mend
  from found f
 group by f.part, f.name, f.what
 order by f.part, f.name, f.what
