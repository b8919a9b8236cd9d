-- Nothing tells a database that a role of the cluster was dropped. Its grants count for nobody by then; this is tidying
-- up.
create or replace function core_private.forget_grants()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_n integer;
begin
    delete from core.namespace_grants g where not exists (select from pg_roles r where r.oid = g.role);
    get diagnostics v_n = row_count;
    return v_n;
end $$;
comment on function core_private.forget_grants() is 'Removes grants of roles that have been dropped.';
