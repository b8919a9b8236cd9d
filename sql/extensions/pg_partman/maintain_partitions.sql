create or replace function core.maintain_partitions()
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_path   text := core_private.session_search_path();
    v_result jsonb := core_private.run_partition_maintenance();
begin
    perform set_config('search_path', v_path, false);
    return v_result;
end $$;
comment on function core.maintain_partitions() is 'Creates partitions seven months ahead and drops those older than six months. Raises 55000 when rows stand in the default partition or months are missing, 55P03 when a lock was not to be had.';
