-- error: what is looked up after a function set a search_path that its caller chose is found in it, as the function's owner.
-- remedy: perform set_config('search_path', p_search_path, false); return v_…; end. A plain variable of the function's own type is not
-- looked up. Nothing else may set a search_path: it would outlive the pinned one. Excepted are those that pin it after a handler.
-- holds: I3-paths
select p.oid::regprocedure::text
  from pg_proc p
 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
   and p.prosrc ~* '\msearch_path\M' and p.prosrc ~* '\mset_config\M|\mset\s+(local\s+|session\s+)?search_path\M|\mreset\M'
   and (regexp_count(p.prosrc, 'set_config|set\s+(local\s+|session\s+)?search_path|\mreset\M', 1, 'i') > 1
        or p.prolang <> (select l.oid from pg_language l where l.lanname = 'plpgsql')
        or p.prosrc !~ 'perform set_config\(''search_path'', p_search_path, false\);\s+return( v_[a-z_]+)?;\s+end\s*$')
   and p.proname not in ('call_handler', 'work_all', 'clean_session')
