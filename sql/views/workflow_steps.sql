create or replace view core.workflow_steps with (security_barrier = true) as
select r.namespace, r.workflow, j.run_id, j.key, j.ord, j.seq,
       case j.status when 'c' then 'completed' when 'f' then 'failed' else 'pending' end as status,
       case when core_private.is_operated_by(r.namespace, current_user) then j.result end as result,
       j.error, j.attempts, j.completed_at, j.undo ->> 'kind' as undo, j.inherited
  from core_private.workflow_journal j
  join core_private.workflow_runs r on r.run_id = j.run_id
 where r.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.workflow_steps is 'The journals of runs, one row a step that was begun or done. Order it by ord.';
comment on column core.workflow_steps.namespace is 'The namespace of the run.';
comment on column core.workflow_steps.workflow is 'Its workflow.';
comment on column core.workflow_steps.run_id is 'The run.';
comment on column core.workflow_steps.key is 'The step''s name, with #turn or #item for each loop or map around it, and ~undo for its compensation.';
comment on column core.workflow_steps.ord is 'Its place in the order of execution.';
comment on column core.workflow_steps.seq is 'In the order in which rows came.';
comment on column core.workflow_steps.status is 'pending, completed or failed.';
comment on column core.workflow_steps.result is 'What it returned, of a pending one what it is about; NULL for who may not operate the namespace.';
comment on column core.workflow_steps.error is 'Of its last failure: reason, error.';
comment on column core.workflow_steps.attempts is 'How often it was tried.';
comment on column core.workflow_steps.completed_at is 'When it was committed or given up.';
comment on column core.workflow_steps.undo is 'How it is undone: go, tx, sql, item; NULL: not at all.';
comment on column core.workflow_steps.inherited is 'Whether it was taken over from the run that this one was forked from.';
