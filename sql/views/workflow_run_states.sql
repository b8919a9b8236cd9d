create or replace view core_private.workflow_run_states as
select case when r.status <> 'open' then r.status
            when c.running then 'running'
            when c.is_due then 'pending'
            else 'waiting' end as state, coalesce(c.cancelling, false) as cancelling,
       r.run_id, r.namespace, r.workflow, r.def_id, r.input, r.parent_run_id, r.parent_key, r.continued_from,
       r.continued_as, r.forked_from, r.principal, r.depth, r.correlation_id, r.idempotency_key, r.tags,
       r.created_at, r.timeout_at, r.result, r.error, r.progress, r.updated_at, r.finished_at, r.causation_uid,
       r.scheduled_task_id
  from core_private.workflow_runs r
  left join lateral (
      select bool_or(k.token is not null and coalesce(k.due_at, k.sql_due_at) > core.now()) as running,
             bool_or(k.state = 'R' and k.due_at <= core.now()) or max(k.epoch) = 0 as is_due,
             bool_or(k.cancel is not null) as cancelling
        from core_private.workflow_cursors k
       where k.run_id = r.run_id and r.finished_at is null) c on true;
comment on view core_private.workflow_run_states is 'Runs with what core.workflow_runs shows as their status, for it and core.workflow_tree.';
comment on column core_private.workflow_run_states.state is 'The status, and whether an open run runs or waits, by its cursors.';
comment on column core_private.workflow_run_states.cancelling is 'Whether it ends as soon as the step in hand is over.';
comment on column core_private.workflow_run_states.run_id is 'As of the run.';
comment on column core_private.workflow_run_states.namespace is 'As of the run.';
comment on column core_private.workflow_run_states.workflow is 'As of the run.';
comment on column core_private.workflow_run_states.def_id is 'As of the run.';
comment on column core_private.workflow_run_states.input is 'As of the run.';
comment on column core_private.workflow_run_states.parent_run_id is 'As of the run.';
comment on column core_private.workflow_run_states.parent_key is 'As of the run.';
comment on column core_private.workflow_run_states.continued_from is 'As of the run.';
comment on column core_private.workflow_run_states.continued_as is 'As of the run.';
comment on column core_private.workflow_run_states.forked_from is 'As of the run.';
comment on column core_private.workflow_run_states.principal is 'As of the run.';
comment on column core_private.workflow_run_states.depth is 'As of the run.';
comment on column core_private.workflow_run_states.correlation_id is 'As of the run.';
comment on column core_private.workflow_run_states.idempotency_key is 'As of the run.';
comment on column core_private.workflow_run_states.tags is 'As of the run.';
comment on column core_private.workflow_run_states.created_at is 'As of the run.';
comment on column core_private.workflow_run_states.timeout_at is 'As of the run.';
comment on column core_private.workflow_run_states.result is 'As of the run.';
comment on column core_private.workflow_run_states.error is 'As of the run.';
comment on column core_private.workflow_run_states.progress is 'As of the run.';
comment on column core_private.workflow_run_states.updated_at is 'As of the run.';
comment on column core_private.workflow_run_states.finished_at is 'As of the run.';
comment on column core_private.workflow_run_states.causation_uid is 'As of the run.';
comment on column core_private.workflow_run_states.scheduled_task_id is 'As of the run.';
