-- In PL/pgSQL, whose plan is kept.
create or replace function core_private.cluster_id()
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (pg_control_system()).system_identifier;
end $$;
comment on function core_private.cluster_id() is 'The system identifier of the server: transaction ids are compared within one.';
