-- One tick runs at a time: a second one finds the lock held and leaves. If a session sits on the lock, a second tick
-- runs beside it what is a minute overdue. Sweeps pass over rows that others hold, and wait three seconds for other
-- locks. For p_search_path see core.run_sweep.
create or replace function core.tick(p_search_path text = current_setting('search_path'))
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
    v_now     timestamptz := core_private.now();
    v_partly  boolean := core_private.closed_namespaces() <> '{}';
    v_alone   boolean;
    v_any     boolean := false;
    v_one     jsonb;
    v_results jsonb := '[]';
    v_name    text;
begin
    perform from core_private.locks l where l.name = 'tick' for update skip locked;
    v_alone := found;
    -- A sweep with a pg_cron job of its own is run here only when that job is overdue, and so is one of the whole
    -- database by a caller who may not work on all of it. A clock that was set back makes all due.
    for v_name in
        select s.name
          from core_private.sweeps s
         cross join lateral (
            select coalesce(s.last_started_at, case when v_alone then '-infinity' else s.registered_at end) as started,
                   case when s.driven_by = 'job' or v_partly and s.name in ('cron', 'grants')
                        then 2 * s.every else s.every end
                   + case when v_alone then interval '0' else interval '1 minute' end as patience) d
         where s.enabled and (d.started > v_now and v_alone or d.started <= v_now - d.patience)
         order by s.position
    loop
        v_any := true;
        v_one := core_private.run_one_sweep(v_name, false, v_alone);
        if v_one is not null then
            v_results := v_results || v_one;
        end if;
    end loop;
    if not v_alone and not v_any then
        return jsonb_build_object('skipped', 'another tick is running');
    end if;
    v_results := jsonb_build_object('ran', v_results);
    if not v_results @> '{"ran": [{"sweep": "partitions"}]}' then
        return v_results;
    end if;
    perform set_config('search_path', p_search_path, false);
    return v_results;
end $$;
comment on function core.tick(text) is 'Runs the sweeps that are due, each isolated from the others; pg_cron and nodes call it. Returns what ran. A caller who may not work on every namespace sweeps those that are open to it.';
