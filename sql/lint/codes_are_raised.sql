-- warning: a code that no function raises; whoever looks it up looks for nothing.
-- remedy: remove it from core.error_codes by a migration, or add it here with who raises it.
select e.code || ' (' || e.meaning || ') is an offender: nobody raises it'
  from core.error_codes e
 where not exists (select from pg_proc p where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
                     and strpos(p.prosrc || coalesce(pg_get_expr(p.proargdefaults, 0), ''), e.code) > 0)
   and e.code not in (
       'NX302',                                    -- the Go node, from false of core_node.heartbeat
       'NX501', 'NX502', 'NX503', 'NX504', 'NX505', 'NX507', 'NX508' -- the installer
   )
