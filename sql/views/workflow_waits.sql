create or replace view core.workflow_waits with (security_barrier = true) as
select r.namespace, r.workflow, c.run_id, c.path,
       case when c.token is not null and coalesce(c.due_at, c.sql_due_at) > core.now() then 'lease'
            when c.state = 'R' then case when c.attempt > 0 and c.due_at > core.now() then 'retry' else 'node' end
            when c.state = 'T' then 'time'
            when c.state = 'W' then case when c.waiting_for ^@ 'child:' then 'child' else 'signal' end
            when c.state = 'J' then 'branches'
            when c.state = 'P' then 'operator'
            else 'undo' end as waits_for,
       c.wait_key as key, c.waiting_for as signal, coalesce(c.due_at, c.sql_due_at) as due_at, c.attempt, c.deaths,
       c.open as branches, case when c.token is not null or c.state = 'P' then c.node_id end as node_id,
       case when c.state = 'P' then core_private.why_parked(c.run_id, c.path, c.wait_key, c.deaths, c.node_id)
            when c.state in ('R', 'U') and c.due_at <= core.now()
            then core_private.why_not_run(
                r.namespace, c.def_id, case when c.path = '' then c.entered
                                            else (select k.entered -- a branch counts its own steps
                                                    from core_private.workflow_cursors k
                                                   where k.run_id = c.run_id and k.path = '') end)
            end collate pg_catalog."default" as why -- as it was: a view keeps the collations of its columns
  from core_private.workflow_cursors c
  join core_private.workflow_runs r on r.run_id = c.run_id
 where r.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.workflow_waits is 'What runs wait for: one row a run that has not ended, and one for each open branch of it.';
comment on column core.workflow_waits.namespace is 'The namespace of the run.';
comment on column core.workflow_waits.workflow is 'Its workflow.';
comment on column core.workflow_waits.run_id is 'The run.';
comment on column core.workflow_waits.path is 'Empty for the run itself, else the branch.';
comment on column core.workflow_waits.waits_for is 'lease: a node has it in hand; node: to be taken by one; retry: the pause after a failure; time; signal; child; branches; undo: to be compensated; operator: it is parked.';
comment on column core.workflow_waits.key is 'The step that waits or is undone.';
comment on column core.workflow_waits.signal is 'The signal, or child: and the id under which a run will answer.';
comment on column core.workflow_waits.due_at is 'When it goes on by itself, or its lease ends; NULL: not by time.';
comment on column core.workflow_waits.attempt is 'How often the step in hand has failed.';
comment on column core.workflow_waits.deaths is 'How often a process died in it.';
comment on column core.workflow_waits.branches is 'How many branches have not ended.';
comment on column core.workflow_waits.node_id is 'The node that has it, or had it when its lease ended, or that died in it last, where it is parked; NULL: none has.';
comment on column core.workflow_waits.why is 'What keeps one that is due: no live node has the workflow, or definition_mismatch: none has a form of it that fits what the run has done. Of one that is parked how often processes died in it, on which node last, and after which step; core.retry_workflow has it go on.';
