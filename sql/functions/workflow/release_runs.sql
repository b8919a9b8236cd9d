create or replace function core_node.release_runs(p_runs uuid[], p_paths text[], p_epochs integer[], p_tokens uuid[])
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_now  timestamptz := core_private.now();
    v_n    integer;
    v_name text;
begin
    with held as (
        select c.run_id, c.path
          from unnest(p_runs, p_paths, p_epochs, p_tokens) x(run_id, path, epoch, token)
          join core_private.workflow_cursors c
            on c.run_id = x.run_id and c.path = x.path and c.epoch = x.epoch and c.token = x.token
         order by c.run_id, c.path
           for no key update of c)
    update core_private.workflow_cursors c
       set token = null, due_at = v_now
      from held h
     where c.run_id = h.run_id and c.path = h.path;
    get diagnostics v_n = row_count;
    for v_name in
        select distinct r.namespace
          from core_private.workflow_runs r
         where v_n > 0 and r.run_id = any (p_runs)
    loop
        perform core_private.wake_workflows(v_name, v_now);
    end loop;
    return v_n;
end $$;
comment on function core_node.release_runs(uuid[], text[], integer[], uuid[]) is 'For nodes that stop: gives runs back that they hold, which counts for nothing. How many they did hold.';
