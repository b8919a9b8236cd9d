create or replace view core.upcoming with (security_invoker = true) as
select t.next_run_at as due_at, t.namespace, t.name, t.event_type, t.task_id, t.next_slot as slot, t.next_slot at time zone t.timezone as local_time, t.timezone,
       t.next_run_at - (select core.now()) as due_in, t.failures > 0 as retrying
  from core.scheduled_tasks t
 where t.next_run_at is not null;
comment on view core.upcoming is 'What each active task does next. Order it by due_at.';
