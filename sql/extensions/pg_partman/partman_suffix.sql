create or replace function core_private.partman_suffix()
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when split_part(
                    coalesce(
                        (select e.extversion from pg_extension e where e.extname = 'pg_partman'),
                        (select a.default_version from pg_available_extensions a where a.name = 'pg_partman'),
                        '5'),
                    '.', 1)::integer < 5
                then 'YYYY_MM'
                else 'YYYYMMDD' end
$$;
comment on function core_private.partman_suffix() is 'How pg_partman, as it is here or would be, writes a month at the end of a name.';
