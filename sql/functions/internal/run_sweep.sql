create or replace function core.run_sweep(p_name text)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_path   text := core_private.session_search_path();
    v_result jsonb := core_private.run_one_sweep(p_name);
begin
    perform set_config('search_path', v_path, false);
    return v_result;
end $$;
comment on function core.run_sweep(text) is 'Runs one registered sweep now and records how it went; a failure is returned, not raised. Raises NX106.';
