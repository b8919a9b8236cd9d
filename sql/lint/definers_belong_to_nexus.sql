-- error: a definer function of another owner lends that owner's rights.
-- remedy: nexus_owner, or the directive -- owner: nexus_scheduler or nexus_guard.
select p.oid::regprocedure::text
  from pg_proc p
 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
   and pg_get_userbyid(p.proowner) not in ('nexus_owner', 'nexus_scheduler', 'nexus_guard')
