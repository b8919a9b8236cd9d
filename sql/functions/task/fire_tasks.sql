-- The caller that locks a task's row fires the task; other callers pass over it. A set has tasks of one namespace, at
-- most 250. Tasks that have failed before go alone and last, so that they undo no others. When nothing is due, the
-- call is one query on two small indexes.
create or replace function core_private.fire_tasks(p_limit integer)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_due   timestamptz;
    v_begin timestamptz := clock_timestamp();
    v_last  timestamptz;
    v_work  boolean;
    v_fired integer := 0;
    v_closed text[];
    v_sets  integer := 0; -- each of a namespace: bounds the queues whose locks are held
    v_waiting uuid[];   -- tasks with a slot that waits for the event before it
    v_busy    uuid[];   -- those of them whose event is not done yet
    r       record;
begin
    select s.last_tick_at, d.due,
           (select t.next_run_at
              from core.scheduled_tasks t
             where t.next_run_at is not null
             order by t.next_run_at
             limit 1) <= d.due
           or exists (select from core.scheduled_tasks t where t.waiting_slot is not null)
      into v_last, v_due, v_work
      from core_private.scheduler s
     cross join lateral (select v_now - core_private.firing_lag(s.scheduler) as due) d;
    if v_now < v_last - interval '1 minute' then
        perform core_private.repair_clock(v_now);
        v_work := true;
    end if;
    if v_now > v_last + interval '5 seconds' or v_now < v_last - interval '1 minute' or v_last is null then
        perform from core_private.scheduler s where s.last_tick_at is not distinct from v_last for update skip locked;
        if found then
            update core_private.scheduler s set last_tick_at = v_now;
        end if;
    end if;
    if v_work is not true then
        return 0;
    end if;

    v_closed := core_private.closed_namespaces();
    v_waiting := array(
        select t.task_id
          from core.scheduled_tasks t
         where t.waiting_slot is not null and t.failures = 0 and t.namespace <> all (v_closed)
         limit p_limit);
    v_busy := core_private.busy_tasks(v_waiting, false);
    for r in
        select q.namespace, array_agg(q.task_id) as ids
          from (select d.task_id, d.namespace,
                       (row_number() over (partition by d.namespace order by d.task_id) - 1) / 250 as set
                  from (select t.task_id, t.namespace
                          from core.scheduled_tasks t
                         where t.task_id = any (v_waiting)
                           and t.task_id <> all (v_busy)
                           and t.waiting_slot is not null
                           for update skip locked) d) q
         group by q.namespace, q.set
    loop
        v_fired := v_fired + core_private.fire_isolated('tasks', r.namespace, r.ids, v_now);
    end loop;
    for r in
        select q.namespace, array_agg(q.task_id) as ids
          from (select d.task_id, d.namespace, d.next_run_at,
                       (row_number() over (partition by d.namespace order by d.next_run_at) - 1) / 250 as set
                  from (select t.task_id, t.namespace, t.next_run_at
                          from core.scheduled_tasks t
                         where t.next_run_at <= v_due and t.failures = 0 and t.namespace <> all (v_closed)
                         order by t.next_run_at
                         limit p_limit
                           for update skip locked) d) q
         group by q.namespace, q.set
         order by min(q.next_run_at)
    loop
        v_fired := v_fired + core_private.fire_isolated('tasks', r.namespace, r.ids, v_now);
        v_sets := v_sets + 1;
        exit when v_sets >= 100 or clock_timestamp() - v_begin > interval '20 seconds';
    end loop;
    for r in
        select t.namespace, array[t.task_id] as ids
          from core.scheduled_tasks t
         where t.next_run_at <= v_due and t.failures > 0 and t.namespace <> all (v_closed)
         order by t.next_run_at
         limit least(p_limit, 200)
           for update skip locked
    loop
        v_fired := v_fired + core_private.fire_isolated('tasks', r.namespace, r.ids, v_now);
        v_sets := v_sets + 1;
        exit when v_sets >= 100 or clock_timestamp() - v_begin > interval '20 seconds';
    end loop;
    return v_fired;
end $$;
comment on function core_private.fire_tasks(integer) is 'Fires up to p_limit tasks that are due; returns how many events were emitted. Raises errors that pass by themselves.';
