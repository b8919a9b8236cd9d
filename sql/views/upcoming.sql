create or replace view core.upcoming with (security_invoker = true) as
select t.next_run_at as due_at, t.namespace, t.name, t.event_type, t.task_id,
       t.next_slot as slot, t.next_slot at time zone t.timezone as local_time, t.timezone,
       t.next_run_at - (select core.now()) as due_in, t.failures > 0 as retrying
  from core.scheduled_tasks t
 where t.next_run_at is not null;
comment on view core.upcoming is 'What each active task does next. Order it by due_at.';
comment on column core.upcoming.due_at is 'When it is tried: the slot with the jitter, or later after a failure.';
comment on column core.upcoming.namespace is 'The namespace of the task.';
comment on column core.upcoming.name is 'The task''s name.';
comment on column core.upcoming.event_type is 'Event type of the event to come.';
comment on column core.upcoming.task_id is 'The task.';
comment on column core.upcoming.slot is 'The slot that comes next.';
comment on column core.upcoming.local_time is 'That slot by the clocks of the task''s time zone.';
comment on column core.upcoming.timezone is 'That time zone.';
comment on column core.upcoming.due_in is 'Time until due_at; negative when it is overdue.';
comment on column core.upcoming.retrying is 'Whether firing has failed since the last good one.';
