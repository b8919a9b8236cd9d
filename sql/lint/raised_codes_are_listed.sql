-- error: a code that core.error_codes does not explain.
-- remedy: a row in the table, by a migration.
select distinct p.oid::regprocedure::text || ' raises ' || m[1]
  from pg_proc p cross join lateral regexp_matches(p.prosrc, '(NX[0-9]{3})', 'g') m
 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
   and not exists (select from core.error_codes e where e.code = m[1])
