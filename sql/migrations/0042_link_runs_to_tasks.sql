-- Whether a run that a task started goes on is asked by task, of the few that have not ended. The task may be gone before
-- its run. By the status, so that no plan takes the index of all runs that have not ended in its place.
alter table core_private.workflow_runs
    add column scheduled_task_id uuid;
create index workflow_runs_task_idx on core_private.workflow_runs (scheduled_task_id)
 where scheduled_task_id is not null and status in ('open', 'compensating');
comment on column core_private.workflow_runs.scheduled_task_id is 'The task whose event a trigger started it for; its row may be gone. A run that it goes on as has it, too.';
comment on column core.scheduled_tasks.overlap is 'What becomes of a slot while the event of an earlier one is undelivered or running, or a run of a workflow that a trigger started for it has not ended: allow, skip or queue_one.';
comment on column core.scheduled_tasks.waiting_slot is 'Under overlap queue_one: the slot that waits for the event before it, or its run.';
