-- pg_partman sets search_path for the session while it works, and such a SET outlives every function around it. The
-- default of p_search_path is worked out before this function's own path holds, so what the caller had is put back, as
-- the last thing.
create or replace function core.run_sweep(p_name text, p_search_path text = current_setting('search_path'))
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_result jsonb := core_private.run_one_sweep(p_name, true, true);
begin
    perform set_config('search_path', p_search_path, false);
    return v_result;
end $$;
comment on function core.run_sweep(text, text) is 'Runs one registered sweep now and records how it went; a failure is returned, not raised. p_search_path is what the session is left with; leave it out. Raises NX106.';
