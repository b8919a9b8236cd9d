create or replace function core_private.acting_for()
returns name
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select r.rolname
      from core_private.sql_transactions t
      join pg_roles r on r.oid = t.owner
     where t.xact_id = pg_current_xact_id_if_assigned()
$$;
comment on function core_private.acting_for() is 'For whom a transaction of nexus_sql acts; NULL for nobody.';
