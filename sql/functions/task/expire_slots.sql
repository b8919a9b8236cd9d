create or replace function core_private.expire_slots(p_limit integer = 100000)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_before timestamptz := core_private.now() - (select s.keep_slots from core_private.scheduler s);
    v_closed text[] := core_private.closed_namespaces();
    v_slots  integer;
    v_runs   integer;
begin
    delete from core.task_slots s
     using (select x.task_id, x.slot from core.task_slots x where x.recorded_at < v_before and x.status <> 'waiting'
               and x.namespace <> all (v_closed) order by x.recorded_at limit p_limit for update skip locked) old
     where s.task_id = old.task_id and s.slot = old.slot;
    get diagnostics v_slots = row_count;
    delete from core.task_runs r
     using (select x.run_id from core.task_runs x where x.ran_at < v_before and x.namespace <> all (v_closed)
             order by x.ran_at limit p_limit for update skip locked) old
     where r.run_id = old.run_id;
    get diagnostics v_runs = row_count;
    -- Links of tasks whose policy became allow are asked for by nobody else.
    perform core_private.busy_tasks(array(
        select distinct d.task_id from core_private.task_deliveries d join core.scheduled_tasks t using (task_id)
         where t.overlap = 'allow' and t.namespace <> all (v_closed) limit 100), true);
    return jsonb_build_object('slots', v_slots, 'runs', v_runs);
end $$;
comment on function core_private.expire_slots(integer) is 'Removes what the ledger of tasks need not remember any more, up to p_limit rows; returns how many.';
