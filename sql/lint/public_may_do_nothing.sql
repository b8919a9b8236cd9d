-- error: PUBLIC can call a function or read a relation.
-- remedy: leave grants to sql/roles/grants.sql.
select p.oid::regprocedure::text
  from pg_proc p cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and a.grantee = 0
union all
select c.oid::regclass::text
  from pg_class c cross join lateral aclexplode(coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))) a
 where c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and c.relkind in ('r', 'p', 'v', 'S') and a.grantee = 0
