create or replace function core_private.path_shape(p_path text)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select regexp_replace(p_path, '[{][^}]*[}]', '{}', 'g')
$$;
comment on function core_private.path_shape(text) is 'The path of a trigger of kind http without the names in it.';
