-- What works on all namespaces for its caller leaves these alone: their rows would stay locked for as long as the
-- caller's transaction is open. Who runs the upkeep of the whole database, or administers it, may touch every one.
create or replace function core_private.closed_namespaces()
returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_caller name := core_private.caller();
begin
    if not exists (select from core.namespaces n where n.restricted)
       or pg_has_role(v_caller, 'nexus_admin', 'member') or pg_has_role(v_caller, 'nexus_scheduler', 'member') then
        return '{}';
    end if;
    return array(
        select n.namespace
          from core.namespaces n
         where n.restricted
           and not exists (
               select
                 from core.namespace_grants g
                 join pg_roles r on r.oid = g.role
                where g.namespace = n.namespace and g.duty in ('consume', 'operate')
                  and pg_has_role(v_caller, r.oid, 'member')));
end $$;
comment on function core_private.closed_namespaces() is 'The restricted namespaces in which the caller may neither consume nor operate.';
