-- What comes next is asked for by namespace, and the sweep passes over namespaces that are closed.
drop index core_private.workflow_runs_timeout_at_idx;
create index workflow_runs_timeout_at_idx on core_private.workflow_runs (namespace, timeout_at)
    where timeout_at is not null and status = 'open';

-- Many runs may be due at the very same time: a claim goes on behind the one that was claimed last.
drop index core_private.workflow_cursors_due_at_idx;
create index workflow_cursors_due_at_idx on core_private.workflow_cursors (def_id, due_at, run_id)
    where due_at is not null;

-- It returns more than before.
drop function if exists core_node.claim_runs(text, bigint[], text, integer, interval);
