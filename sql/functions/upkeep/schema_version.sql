create or replace function core.schema_version()
returns integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(max(m.version), 0) from core_private.schema_migrations m
$$;
comment on function core.schema_version() is 'The version of the schema: the number of its newest migration.';
