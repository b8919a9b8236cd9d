-- error: a column of a table or view without a comment; the reference is generated from them.
-- remedy: comment on column … in the view's file or a migration, with units, states and what NULL means.
select format('%s.%I', c.oid::regclass, a.attname)
  from pg_class c join pg_attribute a on a.attrelid = c.oid
 where c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
   and a.attnum > 0 and not a.attisdropped and coalesce(btrim(col_description(c.oid, a.attnum)), '') = ''
