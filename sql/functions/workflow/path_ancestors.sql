create or replace function core_private.path_ancestors(p_path text)
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_parts text[] := string_to_array(p_path, '/');
begin
    return array(select array_to_string(v_parts[1 : 2 * i], '/') from generate_series(0, cardinality(v_parts) / 2) i);
end $$;
comment on function core_private.path_ancestors(text) is 'The paths of the cursors that a branch is in, from the run''s own to the branch.';
