-- Plan, ledger and tasks in one statement, then one emit. The ledger row is the proof: only who writes it emits. A task
-- whose next_slot is not due yet is here for the slot that waits, or after a failure.
create or replace function core_private.fire_set(p_namespace text, p_task_ids uuid[], p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_tasks uuid[];
    v_slots timestamptz[];
    v_ids   bigint[];
    v_uids  uuid[];
    v_busy  uuid[] := '{}';
begin
    perform core_private.check_registrars(p_namespace, p_task_ids);
    if exists (select from core.scheduled_tasks t where t.task_id = any (p_task_ids) and t.overlap <> 'allow') then
        v_busy := core_private.busy_tasks(p_task_ids, true);
    end if;
    perform pg_current_xact_id();
    with task as materialized (
        select t.*,
               p.slots, p.statuses, p.missed_from, p.missed_to, p.next_slot as then_slot,
               p.slots is not null as due
          from core.scheduled_tasks t
          left join lateral core_private.plan_slots(t, p_now) p on t.next_slot + t.jitter_offset <= p_now
         where t.task_id = any (p_task_ids)),
    candidate as (
        select x.*, row_number() over (partition by x.task_id order by x.slot) as k
          from (select t.task_id, t.overlap, t.waiting_slot as slot, 'fired' as status
                  from task t
                 where t.waiting_slot is not null
                 union all
                select t.task_id, t.overlap, u.slot, u.status
                  from task t, unnest(t.slots, t.statuses) u(slot, status)) x),
    fate as materialized (
        select c.task_id, c.slot,
               case when c.overlap = 'allow' or (c.k = 1 and c.task_id <> all (v_busy))
                    then c.status
                    when c.overlap = 'queue_one' and c.k = case when c.task_id = any (v_busy) then 1 else 2 end
                    then 'waiting'
                    else 'skipped' end as status
          from candidate c),
    ledger as (
        insert into core.task_slots as l (
            task_id, slot, namespace, status, reason, event_id, event_uid, recorded_at, lateness)
        select f.task_id, f.slot, p_namespace, f.status,
               case f.status
                    when 'skipped' then 'overlap: an earlier event is still under way'
                    when 'waiting' then 'overlap: until the earlier event is done' end,
               case when f.status in ('fired', 'caught_up') then nextval('core.event_id_seq') end,
               case when f.status in ('fired', 'caught_up') then core_private.slot_uid(f.task_id, f.slot) end,
               p_now,
               case when f.status in ('fired', 'caught_up') then p_now - f.slot end
          from (select * from fate order by slot, task_id) f
        on conflict (task_id, slot) do update
           set status = excluded.status,
               event_id = excluded.event_id, event_uid = excluded.event_uid,
               recorded_at = excluded.recorded_at, lateness = excluded.lateness, until = null,
               reason = case when l.status = 'missed' then 'was missed'
                             when excluded.status = 'skipped' then excluded.reason
                             else 'waited' end
         where (l.status = 'missed' and excluded.status in ('fired', 'caught_up'))
            or (l.status = 'waiting' and excluded.status <> 'waiting')
        returning l.task_id, l.slot, l.event_id, l.event_uid),
    missed as (
        insert into core.task_slots (task_id, slot, namespace, status, reason, until, recorded_at)
        select t.task_id, t.missed_from, p_namespace, 'missed',
               case when t.spec ? 'seconds' and t.misfire <> 'backfill'
                    then 'late ticks are one'
                    else 'misfire ' || t.misfire end,
               t.missed_to, p_now
          from task t
         where t.missed_from is not null
        on conflict do nothing),
    moved as (
        update core.scheduled_tasks x
           set next_slot = case when t.due then t.then_slot else x.next_slot end,
               next_run_at = case when t.due then t.then_slot else x.next_slot end + x.jitter_offset,
               last_slot = coalesce(t.slots[cardinality(t.slots)], t.missed_from, x.last_slot),
               waiting_slot = f.waiting,
               last_run_at = case when f.ran then p_now else x.last_run_at end,
               updated_at = p_now, failures = 0, last_error = null
          from task t
          left join (select f.task_id,
                            max(f.slot) filter (where f.status = 'waiting') as waiting,
                            bool_or(f.status in ('fired', 'caught_up')) as ran
                       from fate f
                      group by f.task_id) f using (task_id)
         where x.task_id = t.task_id)
    select array_agg(l.task_id), array_agg(l.slot), array_agg(l.event_id), array_agg(l.event_uid)
      into v_tasks, v_slots, v_ids, v_uids
      from ledger l
     where l.event_id is not null;
    if v_ids is null then
        return 0;
    end if;
    perform core_private.emit_slots(p_namespace, v_tasks, v_slots, v_ids, v_uids, p_now);
    return cardinality(v_ids);
end $$;
comment on function core_private.fire_set(text, uuid[], timestamptz) is 'Fires tasks of one namespace whose rows the caller has locked; returns how many events were emitted.';
