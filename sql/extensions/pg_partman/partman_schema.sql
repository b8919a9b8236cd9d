create or replace function core_private.partman_schema()
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select n.nspname::text
      from pg_extension e
      join pg_namespace n on n.oid = e.extnamespace
     where e.extname = 'pg_partman'
$$;
comment on function core_private.partman_schema() is 'Where pg_partman lives; NULL where it is missing.';
