create or replace view core.upcoming with (security_invoker = true) as
select t.next_run_at as due_at, t.namespace, t.name, t.event_type, t.task_id,
       t.next_slot as slot, t.next_slot at time zone t.timezone as local_time, t.timezone,
       t.next_run_at - (select core.now()) as due_in, t.failures > 0 as retrying,
       'task' as kind, null::uuid as run_id
  from core.scheduled_tasks t
 where t.next_run_at is not null
 union all
select u.due_at, u.namespace, u.workflow, null, null, null, null, null, u.due_at - (select core.now()), u.retrying,
       u.kind, u.run_id
  from core_private.upcoming_runs((select core_private.namespaces_read_by(current_user))::text[]) u;
comment on view core.upcoming is 'What comes next by itself: the slot of each active task, and of each run of a workflow what it waits for until a time, and its timeout: the first hundred of each form of a workflow, and of the timeouts of each namespace. Order it by due_at.';
comment on column core.upcoming.due_at is 'When it is tried: the slot with the jitter, or later after a failure.';
comment on column core.upcoming.namespace is 'The namespace.';
comment on column core.upcoming.name is 'The task''s name, or the workflow''s.';
comment on column core.upcoming.event_type is 'Event type of the event to come; NULL of a run.';
comment on column core.upcoming.task_id is 'The task; NULL of a run.';
comment on column core.upcoming.slot is 'The slot that comes next.';
comment on column core.upcoming.local_time is 'That slot by the clocks of the task''s time zone.';
comment on column core.upcoming.timezone is 'That time zone.';
comment on column core.upcoming.due_in is 'Time until due_at; negative when it is overdue.';
comment on column core.upcoming.retrying is 'Whether the last attempt has failed.';
comment on column core.upcoming.kind is 'task; of a run what it waits for as core.workflow_waits has it (node, retry, time, signal, undo), or timeout: it ends then.';
comment on column core.upcoming.run_id is 'The run of a workflow.';
