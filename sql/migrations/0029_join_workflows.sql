-- What a run follows from: the event, or the run, that started it, and the trace that goes on with its steps.
alter table core_private.workflow_runs
    add column causation_uid uuid,
    add column traceparent   text;
comment on column core_private.workflow_runs.causation_uid is 'The event or run that it follows from; NULL: none is known.';
comment on column core_private.workflow_runs.traceparent is 'The span that started it, as W3C writes it; its steps are linked to that.';
comment on column core_private.workflow_runs.depth is 'How many events and runs are above it.';

-- These return more than before.
drop function if exists core_node.claim_runs(text, bigint[], text, integer, interval);
drop function if exists core_private.parse_start_options(jsonb);
