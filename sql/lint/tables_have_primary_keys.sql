-- error: a table without a primary key cannot be replicated, nor its rows named.
-- remedy: a primary key.
select c.oid::regclass::text
  from pg_class c
 where c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and c.relkind in ('r', 'p') and not c.relispartition
   and not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p')
