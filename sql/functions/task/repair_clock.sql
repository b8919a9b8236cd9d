-- A clock that was set back leaves slots that lie in what is now the future again. The ledger keeps what has fired from
-- firing twice.
create or replace function core_private.repair_clock(p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_n integer;
begin
    with ahead as materialized (
        select t.task_id, n.slot
          from (select s.*
                  from core.scheduled_tasks s
                 where s.active
                   and (s.last_slot > p_now or s.updated_at > p_now or s.created_at > p_now)
                   for update skip locked) t
         cross join lateral (
               select core_private.next_task_slot(
                          t.spec, t.timezone,
                          greatest(p_now - t.misfire_after, case when t.created_at <= p_now then t.created_at end),
                          least(t.created_at, p_now), t.starts_at, t.ends_at) as slot) n)
    update core.scheduled_tasks x
       set next_slot = a.slot,
           next_run_at = a.slot + x.jitter_offset,
           last_slot = case when x.last_slot <= p_now then x.last_slot end,
           created_at = least(x.created_at, p_now),
           updated_at = p_now
      from ahead a
     where x.task_id = a.task_id;
    get diagnostics v_n = row_count;
    return v_n;
end $$;
comment on function core_private.repair_clock(timestamptz) is 'After the clock was set back: computes the next slot anew of tasks that were touched later than now; returns how many.';
