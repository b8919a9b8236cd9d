-- pg_partman sets search_path for the session while it works, and such a SET outlives every function around it. The
-- default of p_search_path is worked out before this function's own path holds, so what the caller had is put back, as
-- the last thing.
create or replace function core.maintain_partitions(p_search_path text = current_setting('search_path'))
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_result jsonb := core_private.run_partition_maintenance();
begin
    perform set_config('search_path', p_search_path, false);
    return v_result;
end $$;
comment on function core.maintain_partitions(text) is 'Creates partitions seven months ahead and drops those older than six months. Raises 55000 when rows stand in the default partition or months are missing, 55P03 when a lock was not to be had.';
