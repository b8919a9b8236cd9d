-- error: a function, table or view without a comment; the reference is generated from them.
-- remedy: comment on … below its definition.
select p.oid::regprocedure::text
  from pg_proc p
 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and obj_description(p.oid, 'pg_proc') is null
union all
select c.oid::regclass::text
  from pg_class c
 where c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and c.relkind in ('r', 'p', 'v', 'm', 'f')
   and obj_description(c.oid, 'pg_class') is null
