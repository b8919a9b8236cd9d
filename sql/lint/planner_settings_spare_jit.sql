-- error: a plan that the planner was kept from may be taken all the same, at a price of 1e10, for which it is compiled at each call.
-- remedy: set jit = off wherever enable_... is set.
select p.oid::regprocedure::text
  from pg_proc p
 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
   and exists (select from unnest(p.proconfig) c where c like 'enable\_%=off')
   and not exists (select from unnest(p.proconfig) c where c = 'jit=off')
