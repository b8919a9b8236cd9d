-- error: a volatile clock in a WHERE is asked for every row, and no index serves it.
-- remedy: read core_private.now() once into v_now; in a view, select it once in a sub-select. Excepted is the installer's own bookkeeping.
select p.oid::regprocedure::text
  from pg_proc p
 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
   and p.proname <> 'record_installed'
   and p.prosrc ~* '\mwhere\M[^;]*(core_private\.now|core\.now|clock_timestamp|statement_timestamp|transaction_timestamp|\mnow)\(\)'
union all
select v.schemaname || '.' || v.viewname
  from pg_views v
 where v.schemaname in ('core', 'core_node', 'core_private')
   and regexp_replace(v.definition, '\( SELECT core\.now\(\) AS now\)', '', 'g') ~* '\mwhere\M[^;]*(core_private\.now|core\.now|clock_timestamp|statement_timestamp|transaction_timestamp|\mnow)\(\)'
