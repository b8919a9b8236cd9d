-- The caller holds the cursors.
create or replace function core_private.end_due_runs(p_runs uuid[], p_paths text[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    r record;
begin
    perform core_private.end_timed_waits(p_runs, p_paths, p_now);
    -- Leases that ended after the run was cancelled.
    for r in
        select c.run_id, c.path, c.cancel
          from unnest(p_runs, p_paths) u(run_id, path)
          join core_private.workflow_cursors c on c.run_id = u.run_id and c.path = u.path
         where c.cancel is not null
    loop
        if core_private.lock_run(r.run_id, false) then
            perform core_private.leave_cancelled(r.run_id, r.path, r.cancel, p_now);
        end if;
    end loop;
    update core_private.workflow_cursors c
       set state = 'P', due_at = null, token = null, deaths = c.deaths + 1
      from unnest(p_runs, p_paths) u(run_id, path)
     where c.run_id = u.run_id and c.path = u.path and c.token is not null and c.deaths >= 10
       and c.state in ('R', 'U') and c.cancel is null;
    perform core_private.single_out(p_runs, p_paths, p_now);
end $$;
comment on function core_private.end_due_runs(uuid[], text[], timestamptz) is 'What ends by being due: sleeps and waits whose time is over, leases of runs that are cancelled, and leases in which processes have died ten times before, which are parked; and of those with five such deaths all but one are put off.';
