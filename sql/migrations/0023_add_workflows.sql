-- Durable workflows. A run has a cursor, and one more for each open branch; a cursor is leased, moves from step to step,
-- and is gone when its run or branch ends. What a step returned stands in the journal and nowhere else, so that a commit
-- costs the same however far the run is. Neither has a CHECK, which each commit would pay for. See design.md, Workflows.

alter table core.namespaces
    add column workflow_retention interval not null default interval '30 days' check (workflow_retention > interval '0');
comment on column core.namespaces.workflow_retention is 'How long runs of workflows are kept after their end.';

create table core_private.workflow_definitions (
    def_id              bigint generated always as identity primary key,
    namespace           text not null references core.namespaces on delete cascade,
    name                text collate "C" not null,
    version             integer not null check (version >= 0),
    hash                text not null,
    prefix_hashes       text[] not null,
    steps               jsonb not null,
    concurrency         integer check (concurrency > 0),
    created_at          timestamptz not null,
    last_registered_at  timestamptz not null,
    unique (namespace, name, hash, version)
);
comment on table core_private.workflow_definitions is 'What workflows look like, one row for each form that nodes registered. Runs are pinned to one.';
comment on column core_private.workflow_definitions.def_id is 'Its number in this database.';
comment on column core_private.workflow_definitions.namespace is 'The namespace of the nodes that registered it.';
comment on column core_private.workflow_definitions.name is 'The workflow.';
comment on column core_private.workflow_definitions.version is 'What its authors call it.';
comment on column core_private.workflow_definitions.hash is 'The last of prefix_hashes.';
comment on column core_private.workflow_definitions.prefix_hashes is 'Of the name, and then of each of the outermost steps with all before it.';
comment on column core_private.workflow_definitions.steps is 'The tree of its steps as it was registered.';
comment on column core_private.workflow_definitions.concurrency is 'How many of its runs nodes may have in hand at once; NULL: any number.';
comment on column core_private.workflow_definitions.created_at is 'Database clock when it was first registered.';
comment on column core_private.workflow_definitions.last_registered_at is 'Database clock when it was last registered. New runs take the newest.';

create table core_private.workflow_undo_functions (
    def_id    bigint not null references core_private.workflow_definitions on delete cascade,
    step      text collate "C" not null,
    function  text not null,
    owner     regrole not null,
    primary key (def_id, step)
);
comment on table core_private.workflow_undo_functions is 'Compensations in SQL. Which function runs, and as whom, is read here and nowhere else.';
comment on column core_private.workflow_undo_functions.def_id is 'The definition.';
comment on column core_private.workflow_undo_functions.step is 'The step that is undone.';
comment on column core_private.workflow_undo_functions.function is 'The function, as regprocedure shows it.';
comment on column core_private.workflow_undo_functions.owner is 'Its owner when it was registered, as whom it runs.';

create table core_private.workflow_runs (
    run_id           uuid primary key,
    namespace        text not null,
    workflow         text collate "C" not null,
    def_id           bigint not null,
    input            jsonb not null,
    parent_run_id    uuid,
    parent_key       text collate "C",
    parent_attempt   integer,
    answers          uuid,
    continued_from   uuid,
    continued_as     uuid,
    forked_from      uuid,
    principal        text not null,
    depth            integer not null default 0,
    correlation_id   text,
    idempotency_key  text collate "C",
    tags             text[],
    created_at       timestamptz not null,
    timeout_at       timestamptz,
    status           text not null default 'open'
        check (status in ('open', 'compensating', 'completed', 'failed', 'compensation_failed', 'cancelled', 'timed_out')),
    result           jsonb,
    error            jsonb,
    ending           text check (ending in ('failed', 'cancelled', 'timed_out')),
    progress         jsonb,
    updated_at       timestamptz not null,
    finished_at      timestamptz,
    check ((finished_at is null) = (status in ('open', 'compensating')))
) with (fillfactor = 80);
create unique index workflow_runs_idempotency_key_idx on core_private.workflow_runs (namespace, workflow, idempotency_key)
    where idempotency_key is not null;
create unique index workflow_runs_parent_idx on core_private.workflow_runs (parent_run_id, parent_key, parent_attempt)
    where parent_run_id is not null and continued_from is null;
create index workflow_runs_children_idx on core_private.workflow_runs (parent_run_id) where finished_at is null;
create index workflow_runs_namespace_idx on core_private.workflow_runs (namespace, created_at);
create index workflow_runs_status_idx on core_private.workflow_runs (namespace, status, created_at);
create index workflow_runs_def_id_idx on core_private.workflow_runs (def_id, run_id) where finished_at is null;
create index workflow_runs_tags_idx on core_private.workflow_runs using gin (tags) where tags is not null;
create index workflow_runs_timeout_at_idx on core_private.workflow_runs (timeout_at)
    where timeout_at is not null and status = 'open';
create index workflow_runs_finished_at_idx on core_private.workflow_runs (namespace, finished_at)
    where finished_at is not null;
comment on table core_private.workflow_runs is 'Runs of workflows, one row each. Read through core.workflow_runs.';
comment on column core_private.workflow_runs.run_id is 'Its id, a UUID of version 7.';
comment on column core_private.workflow_runs.namespace is 'Its namespace.';
comment on column core_private.workflow_runs.workflow is 'The workflow.';
comment on column core_private.workflow_runs.def_id is 'The definition that it goes by.';
comment on column core_private.workflow_runs.input is 'What it was started with.';
comment on column core_private.workflow_runs.parent_run_id is 'The run that has it as a step; NULL: none.';
comment on column core_private.workflow_runs.parent_key is 'The key of that step in the journal of the parent.';
comment on column core_private.workflow_runs.parent_attempt is 'The attempt of that step.';
comment on column core_private.workflow_runs.answers is 'The id under which its parent waits: its own, or that of the run that it continues.';
comment on column core_private.workflow_runs.continued_from is 'The run that ended by beginning this one.';
comment on column core_private.workflow_runs.continued_as is 'The run that this one ended by beginning.';
comment on column core_private.workflow_runs.forked_from is 'The run whose journal it inherited a part of.';
comment on column core_private.workflow_runs.principal is 'Who started it: the session user, with the role set, if any.';
comment on column core_private.workflow_runs.depth is 'How many runs are above it.';
comment on column core_private.workflow_runs.correlation_id is 'What was given at the start; a child has its parent''s.';
comment on column core_private.workflow_runs.idempotency_key is 'Only one run of the workflow has it.';
comment on column core_private.workflow_runs.tags is 'By which it can be found.';
comment on column core_private.workflow_runs.created_at is 'Database clock when it was started.';
comment on column core_private.workflow_runs.timeout_at is 'When it ends as timed_out; NULL: never.';
comment on column core_private.workflow_runs.status is 'open until it ends, or compensating; whether an open one runs or waits is in its cursors.';
comment on column core_private.workflow_runs.result is 'What it returned.';
comment on column core_private.workflow_runs.error is 'Why it failed or was cancelled: step, reason, error; and the same of the compensation that failed.';
comment on column core_private.workflow_runs.ending is 'How it ends when all is undone; NULL: nothing is to be undone.';
comment on column core_private.workflow_runs.progress is 'What its code said last about how far it is.';
comment on column core_private.workflow_runs.updated_at is 'When this row was last changed.';
comment on column core_private.workflow_runs.finished_at is 'When it ended.';

create table core_private.workflow_cursors (
    run_id       uuid not null,
    path         text collate "C" not null default '',
    def_id       bigint not null,
    epoch        integer not null default 0,
    token        uuid,
    node_id      text,
    pos          integer not null default 0,
    entered      integer not null default 0,
    attempt      integer not null default 0,
    deaths       integer not null default 0,
    state        "char" not null default 'R',
    due_at       timestamptz,
    sql_due_at   timestamptz,
    waiting_for  text collate "C",
    wait_key     text collate "C",
    wait_ord     integer[],
    open         integer not null default 0,
    next_item    integer,
    items        integer,
    failed       integer not null default 0,
    cancel       text,
    primary key (run_id, path)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
create index workflow_cursors_due_at_idx on core_private.workflow_cursors (def_id, due_at) where due_at is not null;
create index workflow_cursors_sql_due_at_idx on core_private.workflow_cursors (sql_due_at) where sql_due_at is not null;
create index workflow_cursors_leased_idx on core_private.workflow_cursors (def_id, run_id) where token is not null;
comment on table core_private.workflow_cursors is 'Where runs are: one row a run that has not ended, and one for each open branch of it.';
comment on column core_private.workflow_cursors.run_id is 'The run.';
comment on column core_private.workflow_cursors.path is 'Empty for the run itself, else container/branch, nested.';
comment on column core_private.workflow_cursors.def_id is 'As of the run.';
comment on column core_private.workflow_cursors.epoch is 'Rises with each claim.';
comment on column core_private.workflow_cursors.token is 'Random at each claim, proves that the cursor is held; NULL: nobody holds it.';
comment on column core_private.workflow_cursors.node_id is 'The node that holds it, or held it last.';
comment on column core_private.workflow_cursors.pos is 'How many steps it has committed.';
comment on column core_private.workflow_cursors.entered is 'How many of the outermost steps were begun: a definition fits that has the same ones.';
comment on column core_private.workflow_cursors.attempt is 'How often the step in hand has failed.';
comment on column core_private.workflow_cursors.deaths is 'How often a process died in the step in hand.';
comment on column core_private.workflow_cursors.state is 'R: runs or is to run; T: sleeps; W: waits for a signal; J: waits for its branches; U: undoes; S: undoes in SQL; P: parked, after too many deaths.';
comment on column core_private.workflow_cursors.due_at is 'When a node may take it: its time, or the end of a lease; NULL: not by time.';
comment on column core_private.workflow_cursors.sql_due_at is 'When nexus_sql may take it.';
comment on column core_private.workflow_cursors.waiting_for is 'The signal it waits for.';
comment on column core_private.workflow_cursors.wait_key is 'The key of the step that waits or is undone.';
comment on column core_private.workflow_cursors.wait_ord is 'Its place in the order of execution.';
comment on column core_private.workflow_cursors.open is 'How many branches have not ended.';
comment on column core_private.workflow_cursors.next_item is 'The next item that a branch will take; NULL: branches are no items.';
comment on column core_private.workflow_cursors.items is 'How many items there are.';
comment on column core_private.workflow_cursors.failed is 'How many branches have failed.';
comment on column core_private.workflow_cursors.cancel is 'The run ends when the step in hand is over: with compensation, without, or as timed out.';

create sequence core_private.workflow_journal_seq as bigint;
create table core_private.workflow_journal (
    run_id        uuid not null,
    key           text collate "C" not null,
    ord           integer[] not null,
    seq           bigint not null default nextval('core_private.workflow_journal_seq'),
    status        "char" not null,
    result        jsonb,
    error         jsonb,
    attempts      integer not null default 1,
    completed_at  timestamptz,
    undo          jsonb,
    inherited     boolean not null default false,
    primary key (run_id, key)
);
comment on table core_private.workflow_journal is 'What steps returned: the only place of it. Read through core.workflow_steps.';
comment on column core_private.workflow_journal.run_id is 'The run.';
comment on column core_private.workflow_journal.key is 'The step''s name, with #turn or #item for each loop or map around it, and ~undo for its compensation.';
comment on column core_private.workflow_journal.ord is 'Its place: lexicographic order is the order of execution.';
comment on column core_private.workflow_journal.seq is 'In the order in which rows came.';
comment on column core_private.workflow_journal.status is 'p: pending, c: completed, f: failed.';
comment on column core_private.workflow_journal.result is 'What it returned; of a pending one what it is about.';
comment on column core_private.workflow_journal.error is 'Of its last failure: reason, error.';
comment on column core_private.workflow_journal.attempts is 'How often it was tried.';
comment on column core_private.workflow_journal.completed_at is 'When it was committed or given up.';
comment on column core_private.workflow_journal.undo is 'How it is undone: kind, on_failure, policy; NULL: not at all.';
comment on column core_private.workflow_journal.inherited is 'Whether it was taken over from the run that this one was forked from.';

create table core_private.workflow_signals (
    signal_id    bigint generated always as identity primary key,
    namespace    text not null,
    run_id       uuid not null,
    name         text collate "C" not null,
    payload      jsonb,
    sent_at      timestamptz not null,
    sent_by      text not null,
    routed       boolean not null default false,
    consumed_at  timestamptz
);
create index workflow_signals_new_idx on core_private.workflow_signals (namespace, signal_id) where not routed;
create index workflow_signals_run_idx on core_private.workflow_signals (run_id, name, signal_id);
comment on table core_private.workflow_signals is 'The inbox of runs. Who sends only inserts, so that nobody waits for a run.';
comment on column core_private.workflow_signals.signal_id is 'In the order of sending, as far as one transaction knows of the other.';
comment on column core_private.workflow_signals.namespace is 'The namespace of the run.';
comment on column core_private.workflow_signals.run_id is 'The run.';
comment on column core_private.workflow_signals.name is 'The signal; child: and an id: the end of a run that this one waits for.';
comment on column core_private.workflow_signals.payload is 'What was sent along.';
comment on column core_private.workflow_signals.sent_at is 'Database clock when it was sent.';
comment on column core_private.workflow_signals.sent_by is 'Who sent it: the session user, with the role set, if any.';
comment on column core_private.workflow_signals.routed is 'Whether a claim has looked who waits for it.';
comment on column core_private.workflow_signals.consumed_at is 'When a step took it; NULL: none has.';

create table core_private.workflow_retargets (
    def_id    bigint primary key references core_private.workflow_definitions on delete cascade,
    to_def    bigint not null,
    after     uuid not null
);
comment on table core_private.workflow_retargets is 'How far the sweep is that gives runs of a definition which no live node has to one that a live node has.';
comment on column core_private.workflow_retargets.def_id is 'The definition that no live node has.';
comment on column core_private.workflow_retargets.to_def is 'The one that takes its runs, where it fits.';
comment on column core_private.workflow_retargets.after is 'The run that was looked at last.';

insert into core.error_codes (code, meaning, remedy) values
    ('NX019', 'workflow that cannot be', 'The message names the step. Names begin with a letter, have up to 63 of a-z, 0-9, _ and -, and occur once in a workflow.'),
    ('NX116', 'no such workflow', 'A node that has it registers it; core.workflow_definitions lists those that there are.'),
    ('NX117', 'no such run of a workflow, or no such step in it', 'Runs are listed in core.workflow_runs, and their steps in core.workflow_steps.'),
    ('NX226', 'a run with this idempotency key has another input', 'Use a key for one input, or leave it out.'),
    ('NX227', 'the run is compensated', 'What was undone cannot be gone on with: start it anew.');
