-- A session that has a task's row locked may be about to move it, so next_due is at most a guess; nodes come back after
-- some seconds anyway.
create or replace function core_node.fire_due(p_limit integer = 1000, out fired integer, out next_due timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
    v_closed text[] := core_private.closed_namespaces();
    v_lag interval := (select core_private.firing_lag(s.scheduler) from core_private.scheduler s);
begin
    perform core_private.check_number(p_limit, 'p_limit', 1, 10000);
    fired := core_private.fire_tasks(p_limit) + core.fire_due_events(p_limit);
    select least(
               (select t.next_run_at + v_lag
                  from core.scheduled_tasks t
                 where t.next_run_at is not null and t.namespace <> all (v_closed)
                 order by t.next_run_at
                 limit 1),
               (select v_now + interval '1 second'
                  from core.scheduled_tasks t
                 where t.waiting_slot is not null and t.namespace <> all (v_closed)
                 limit 1),
               core_private.next_scheduled_event_due(v_closed))
      into next_due;
end $$;
comment on function core_node.fire_due(integer) is 'For the timers of nodes: fires what is due, recurring and one-shot, but for restricted namespaces in which the caller may neither consume nor operate. Returns how many events were emitted, and when to come again; NULL if nothing is scheduled. Raises NX006, and errors that pass by themselves.';
