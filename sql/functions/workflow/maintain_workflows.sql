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
          from core_private.workflow_runs r
         where r.timeout_at <= v_now and r.status = 'open' and r.namespace <> all (v_closed)
         order by r.timeout_at
         limit 500
    loop
        continue when not core_private.lock_run(v_run, false);
        perform core_private.cancel_run(
            v_run, 'timeout',
            jsonb_build_object('reason', 'timed_out', 'error', 'the run took longer than its timeout'), v_now);
        v_timed := v_timed + 1;
    end loop;
    return jsonb_build_object('timed_out', v_timed, 'retargeted', core_private.retarget_runs());
end $$;
comment on function core_private.maintain_workflows() is 'Ends runs whose time is over, 500 a call, and gives runs to definitions that live nodes have.';
