-- error: a foreign key whose columns begin no index makes each delete of the parent read the whole child.
-- remedy: an index on those columns.
select k.conrelid::regclass::text || '.' || k.conname
  from pg_constraint k
 where k.contype = 'f' and k.connamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
   and not exists (select from pg_index i where i.indrelid = k.conrelid
                      and (i.indkey::smallint[])[0:cardinality(k.conkey) - 1] operator(pg_catalog.@>) k.conkey)
