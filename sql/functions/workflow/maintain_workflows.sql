create or replace function core_private.maintain_workflows()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_closed text[] := core_private.closed_namespaces();
    v_timed  integer := 0;
    v_run    uuid;
begin
    for v_run in
        select r.run_id
          from core.namespaces n
         cross join lateral (
             select x.run_id, x.timeout_at
               from core_private.workflow_runs x
              where x.namespace = n.namespace and x.timeout_at <= v_now and x.status = 'open'
              order by x.timeout_at
              limit 500) r
         where n.namespace <> all (v_closed)
         order by r.timeout_at
         limit 500
    loop
        continue when not core_private.lock_tree(v_run);
        perform core_private.cancel_run(
            v_run, 'timeout',
            jsonb_build_object('reason', 'timed_out', 'error', 'the run took longer than its timeout'), v_now);
        v_timed := v_timed + 1;
    end loop;
    return jsonb_build_object('timed_out', v_timed, 'retargeted', core_private.retarget_runs());
end $$;
comment on function core_private.maintain_workflows() is 'Ends runs whose time is over, 500 a call, but for those that somebody has locked, or a child of, and gives runs to definitions that live nodes have.';
