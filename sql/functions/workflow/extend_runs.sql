-- Waits for nobody: one cursor that somebody holds would let all the leases that are renewed with it run out.
create or replace function core_node.extend_runs(
    p_runs uuid[], p_paths text[], p_epochs integer[], p_tokens uuid[], p_lease interval,
    out lost integer[], out busy integer[])
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_now  timestamptz := core_private.now();
    v_kept integer[];
begin
    perform core_private.check_lease(p_lease);
    with held as (
        select x.i, c.run_id, c.path
          from unnest(p_runs, p_paths, p_epochs, p_tokens) with ordinality x(run_id, path, epoch, token, i)
          join core_private.workflow_cursors c
            on c.run_id = x.run_id and c.path = x.path and c.epoch = x.epoch and c.token = x.token
         order by c.run_id, c.path
           for no key update of c skip locked),
    renewed as (
        update core_private.workflow_cursors c
           set due_at = v_now + p_lease
          from held h
         where c.run_id = h.run_id and c.path = h.path
        returning h.i)
    select coalesce(array_agg(r.i), '{}') into v_kept from renewed r;
    busy := array(
        select x.i::integer
          from unnest(p_runs, p_paths, p_epochs, p_tokens) with ordinality x(run_id, path, epoch, token, i)
          join core_private.workflow_cursors c
            on c.run_id = x.run_id and c.path = x.path and c.epoch = x.epoch and c.token = x.token
         where x.i <> all (v_kept)
         order by x.i);
    lost := array(select i from generate_subscripts(p_runs, 1) i where i <> all (v_kept || busy) order by i);
end $$;
comment on function core_node.extend_runs(uuid[], text[], integer[], uuid[], interval) is 'For nodes: renews leases of runs for p_lease from now. Places, from 1: lost are those that the caller does not hold; busy those that he holds and somebody else has locked just now, which are not renewed and can be taken by nobody as long. Raises NX006.';
