create or replace function core_private.cluster_id()
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select s.system_identifier from pg_control_system() s
$$;
comment on function core_private.cluster_id() is 'The system identifier of the server: transaction ids are compared within one.';
