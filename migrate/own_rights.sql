-- Rights that the owners of Nexus's objects lack on what is their own: somebody revoked them, and every function that runs as its owner
-- fails. An owner may always give them back to itself. One row an object.
with thing (turn, kind, name, owner, acl, whole) as (
  select 1, 'schema', quote_ident(n.nspname), n.nspowner, n.nspacl, acldefault('n', n.nspowner)
    from pg_namespace n
   where n.nspname in ('core', 'core_node', 'core_private', 'pgmq')
  union all
  select 2, case c.relkind when 'S' then 'sequence' else 'table' end, format('%I.%I', n.nspname, c.relname), c.relowner, c.relacl,
         acldefault(case c.relkind when 'S' then 's'::"char" else 'r' end, c.relowner)
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where n.nspname in ('core', 'core_node', 'core_private', 'pgmq') and c.relkind in ('r', 'p', 'v', 'm', 'S')
  union all
  select 3, 'routine', format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)), p.proowner, p.proacl, acldefault('f', p.proowner)
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where n.nspname in ('core', 'core_node', 'core_private', 'pgmq')
)
select t.kind || ' ' || t.name as object, r.rolname::text as owner, l.privileges,
       format('grant %s on %s %s to %I;', l.privileges, t.kind, t.name, r.rolname) as statement
  from thing t
  join pg_roles r on r.oid = t.owner and r.rolname in ('nexus_owner', 'nexus_scheduler', 'nexus_guard')
 cross join lateral (
   select string_agg(lower(w.privilege_type), ', ' order by w.privilege_type) as privileges
     from aclexplode(t.whole) w
    where w.grantee = t.owner
      and not exists (select from aclexplode(t.acl) h where h.grantee = t.owner and h.privilege_type = w.privilege_type)) l
 where t.acl is not null and l.privileges is not null
 order by t.turn, t.name
