-- The slot that comes next is the first after now, so a task whose next slot differs from that was reckoned with other
-- rules.
create or replace function core_private.refresh_slots()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_result jsonb := core_private.refresh_timezones();
    v_closed text[] := core_private.closed_namespaces();
    v_n      integer;
begin
    with moved as materialized (
        select t.task_id, n.slot
          from (select s.*
                  from core.scheduled_tasks s
                 where s.next_slot > v_now
                   and s.namespace <> all (v_closed)
                   and v_result -> 'changed' ? s.timezone
                   for update) t
         cross join lateral (
               select core_private.next_task_slot(
                          t.spec, t.timezone, v_now, t.created_at, t.starts_at, t.ends_at) as slot) n
         where n.slot is distinct from t.next_slot)
    update core.scheduled_tasks x
       set next_slot = m.slot, next_run_at = m.slot + x.jitter_offset
      from moved m
     where x.task_id = m.task_id;
    get diagnostics v_n = row_count;
    return v_result || jsonb_build_object('tasks', v_n);
end $$;
comment on function core_private.refresh_slots() is 'Reads the server''s zone data and computes the next slot anew of tasks in zones whose rules changed.';
