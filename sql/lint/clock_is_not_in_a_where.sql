-- error: a volatile clock in a WHERE is asked for every row, and no index serves it.
-- remedy: read core_private.now() once into v_now.
select p.oid::regprocedure::text
  from pg_proc p
 where p.pronamespace in ('core'::regnamespace, 'core_private'::regnamespace) and p.prolang = (select oid from pg_language where lanname = 'plpgsql')
   and p.prosrc ~* '[<>]=?\s*(core_private\.now|clock_timestamp)\(\)'
