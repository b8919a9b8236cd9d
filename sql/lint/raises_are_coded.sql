-- error: a raise without an errcode can be told from others by its words only.
-- remedy: using errcode = 'NX…', column, message, hint.
select p.oid::regprocedure::text
  from pg_proc p
 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
   and p.prosrc ~* '\mraise\s+exception\M' and p.prosrc ~* '\mraise\s+exception\s+(?!using\s+errcode\s*=)'
   and p.proname <> 'record_installed'
