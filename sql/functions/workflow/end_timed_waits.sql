-- Times that are over: a sleep is a completed step, and so is a wait without its signal. A signal that is there all the
-- same counts. The caller holds the cursors.
create or replace function core_private.end_timed_waits(p_runs uuid[], p_paths text[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    r record;
begin
    if not exists (
           select
             from unnest(p_runs, p_paths) u(run_id, path)
             join core_private.workflow_cursors c on c.run_id = u.run_id and c.path = u.path
            where c.state in ('T', 'W')) then
        return;
    end if;
    for r in
        select c.run_id, c.path
          from unnest(p_runs, p_paths) u(run_id, path)
          join core_private.workflow_cursors c on c.run_id = u.run_id and c.path = u.path
         where c.state = 'W'
    loop
        perform core_private.end_waits(array[r.run_id], r.path, p_now);
    end loop;
    insert into core_private.workflow_journal as j (run_id, key, ord, status, result, completed_at)
    select c.run_id, c.wait_key, c.wait_ord, 'c', null, p_now
      from unnest(p_runs, p_paths) u(run_id, path)
      join core_private.workflow_cursors c on c.run_id = u.run_id and c.path = u.path
     where c.state in ('T', 'W')
    on conflict (run_id, key) do update
       set status = 'c', completed_at = p_now, attempts = 1, error = null;
    update core_private.workflow_cursors c
       set state = 'R', pos = c.pos + 1, waiting_for = null, wait_key = null, wait_ord = null, attempt = 0, deaths = 0,
           token = null
      from unnest(p_runs, p_paths) u(run_id, path)
     where c.run_id = u.run_id and c.path = u.path and c.state in ('T', 'W');
end $$;
comment on function core_private.end_timed_waits(uuid[], text[], timestamptz) is 'Has cursors whose sleep is over, or whose wait has lasted its time, go on.';
