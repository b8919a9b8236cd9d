create or replace view core.workflow_runs with (security_barrier = true) as
select r.run_id, r.namespace, r.workflow, d.version, r.def_id,
       r.state as status, r.cancelling,
       case when core_private.is_operated_by(r.namespace, current_user) then r.input end as input,
       case when core_private.is_operated_by(r.namespace, current_user) then r.result end as result,
       r.error, r.progress, r.tags, r.idempotency_key, r.correlation_id, r.parent_run_id, r.parent_key,
       r.continued_from, r.continued_as, r.forked_from, r.depth, r.principal, r.created_at, r.timeout_at, r.updated_at,
       r.finished_at,
       coalesce(r.finished_at, core.now()) - r.created_at as age, r.causation_uid, r.scheduled_task_id
  from core_private.workflow_run_states r
  left join core_private.workflow_definitions d on d.def_id = r.def_id
 where r.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.workflow_runs is 'One row a run of a workflow: how it is, and how it ended. Input and result are shown to who may operate the namespace.';
comment on column core.workflow_runs.run_id is 'Its id.';
comment on column core.workflow_runs.namespace is 'Its namespace.';
comment on column core.workflow_runs.workflow is 'The workflow.';
comment on column core.workflow_runs.version is 'The version of the definition that it goes by.';
comment on column core.workflow_runs.def_id is 'The number of that definition.';
comment on column core.workflow_runs.status is 'pending: a node may take it; running: one has it; waiting: for a time, a signal, a child, or after a failure; compensating; completed, failed, compensation_failed, cancelled, timed_out.';
comment on column core.workflow_runs.cancelling is 'Whether it ends as soon as the step in hand is over.';
comment on column core.workflow_runs.input is 'What it was started with; NULL for who may not operate the namespace.';
comment on column core.workflow_runs.result is 'What it returned; likewise.';
comment on column core.workflow_runs.error is 'Why it failed or was cancelled: step, reason, error; in compensation the same of what could not be undone.';
comment on column core.workflow_runs.progress is 'What its code said last about how far it is.';
comment on column core.workflow_runs.tags is 'By which it can be found.';
comment on column core.workflow_runs.idempotency_key is 'The key that it was started with.';
comment on column core.workflow_runs.correlation_id is 'What was given at the start; a child has its parent''s.';
comment on column core.workflow_runs.parent_run_id is 'The run that has it as a step.';
comment on column core.workflow_runs.parent_key is 'The key of that step.';
comment on column core.workflow_runs.continued_from is 'The run that ended by beginning this one.';
comment on column core.workflow_runs.continued_as is 'The run that this one ended by beginning.';
comment on column core.workflow_runs.forked_from is 'The run whose journal it inherited a part of.';
comment on column core.workflow_runs.depth is 'How many events and runs are above it.';
comment on column core.workflow_runs.principal is 'Who started it.';
comment on column core.workflow_runs.created_at is 'Database clock when it was started.';
comment on column core.workflow_runs.timeout_at is 'When it ends as timed_out; NULL: never.';
comment on column core.workflow_runs.updated_at is 'When its status or progress last changed.';
comment on column core.workflow_runs.finished_at is 'When it ended.';
comment on column core.workflow_runs.age is 'How long it took, or has taken.';
comment on column core.workflow_runs.causation_uid is 'The event or run that it follows from; NULL: none is known.';
comment on column core.workflow_runs.scheduled_task_id is 'The task whose slot started it by a trigger; its overlap policy waits for the run. NULL: none did.';
