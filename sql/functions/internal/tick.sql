-- p_search_path: see core.run_sweep. One tick at a time: whoever comes second finds the lock held and leaves.
create or replace function core.tick(p_search_path text = current_setting('search_path'))
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_results jsonb := '[]';
    v_name    text;
begin
    if not pg_try_advisory_xact_lock(hashtext('nexus'), hashtext('tick')) then
        return jsonb_build_object('skipped', 'another tick is running');
    end if;
    -- A sweep with a pg_cron job of its own is run here only when that job is overdue. A clock that was set back makes all due.
    for v_name in
        select s.name from core_private.sweeps s
         where s.enabled and (s.last_started_at is null or s.last_started_at > v_now
               or s.last_started_at <= v_now - case s.driven_by when 'job' then 2 * s.every else s.every end)
         order by s.position
    loop
        v_results := v_results || core_private.run_one_sweep(v_name);
    end loop;
    if v_results @> '[{"sweep": "partitions"}]' then
        perform set_config('search_path', p_search_path, false);
    end if;
    return jsonb_build_object('ran', v_results);
end $$;
comment on function core.tick(text) is 'Runs the sweeps that are due, each isolated from the others; pg_cron and nodes call it. Returns what ran.';
