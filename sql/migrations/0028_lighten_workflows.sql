-- How long a result may be that needs no close look, told to the cursor by each claim, so that commits need not ask the
-- namespace. 0 for leases of before: their results are looked at closely.

alter table core_private.workflow_cursors add column plain_bytes integer not null default 0;
comment on column core_private.workflow_cursors.plain_bytes is 'JSON up to this long is within what its namespace allows, however jsonb spells it.';

-- Postgres reads CHECKs anew in each statement, which was a quarter of what a start cost. The functions that write runs
-- are the only ones that can.
alter table core_private.workflow_runs
    drop constraint workflow_runs_status_check,
    drop constraint workflow_runs_ending_check,
    drop constraint workflow_runs_check;

-- Most runs are nobody's steps, and need no entry for that.
drop index core_private.workflow_runs_children_idx;
create index workflow_runs_children_idx on core_private.workflow_runs (parent_run_id)
    where finished_at is null and parent_run_id is not null;
