-- One ledger for whatever was given up, and the history of failed attempts.

create table core.dead_letters (
    dead_letter_id    bigint generated always as identity primary key,
    namespace         text not null references core.namespaces on delete cascade,
    consumer          text,
    event_type        text,
    source_kind       text not null check (source_kind in ('delivery', 'lane', 'task', 'trigger', 'workflow_step', 'workflow_compensation')),
    source_ref        jsonb not null,
    round             integer not null default 0 check (round >= 0),
    queue             text,
    msg_id            bigint,
    dlq_msg_id        bigint,
    event_id          bigint,
    event_uid         uuid,
    payload           jsonb,
    envelope          jsonb,
    headers           jsonb,
    body              bytea,
    body_type         text,
    attempts          integer not null,
    first_attempt_at  timestamptz,
    last_attempt_at   timestamptz,
    failed_at         timestamptz not null,
    reason            text not null,
    last_error        text,
    lane              integer,
    lane_seq          bigint,
    ordering_key      text,
    status            text not null default 'pending' check (status in ('pending', 'reprocessing', 'resolved')),
    deadline          timestamptz,
    claim_token       uuid,
    resolution        text check (resolution in ('replayed', 'ignored', 'handled_by_handler', 'discarded', 'expired')),
    resolved_at       timestamptz,
    resolved_by       text,
    resolved_reason   text,
    replay_of         bigint,
    replay_count      integer not null default 0,
    unique (source_kind, source_ref, round),
    check (num_nonnulls(payload, body) = 1),
    check ((status = 'resolved') = (resolved_at is not null)),
    check ((resolved_at is null) = (resolution is null)),
    check ((status = 'reprocessing') = (claim_token is not null)),
    check ((claim_token is null) = (deadline is null))
);
create index dead_letters_unresolved_idx on core.dead_letters (namespace, dead_letter_id) where resolved_at is null;
create index dead_letters_resolved_at_idx on core.dead_letters (resolved_at) where resolved_at is not null;
create index dead_letters_event_uid_idx on core.dead_letters (event_uid);
comment on table core.dead_letters is 'Everything that was given up: deliveries, later lanes, tasks, triggers and workflow steps. Unresolved rows are never removed by retention.';
comment on column core.dead_letters.source_ref is 'What it came from: for a delivery {queue, eventUid}, or {queue, msgId} of a message that was no envelope.';
comment on column core.dead_letters.round is 'How often the same source has been buried before.';
comment on column core.dead_letters.envelope is 'The message without its payload; NULL where the message was no envelope.';
comment on column core.dead_letters.headers is 'Headers the producer gave.';
comment on column core.dead_letters.dlq_msg_id is 'The copy on the dead-letter queue; it may be gone.';
comment on column core.dead_letters.replay_of is 'The dead letter whose replay was buried here.';
comment on column core.dead_letters.replay_count is 'How many replays lie before this one.';
comment on column core.dead_letters.resolved_by is 'Session user, with the role set, if any.';

create table core.delivery_errors (
    error_id    bigint generated always as identity primary key,
    namespace   text not null,
    consumer    text not null,
    queue       text not null,
    msg_id      bigint not null,
    event_id    bigint,
    event_uid   uuid,
    event_type  text,
    attempt     integer not null,
    action      text not null check (action in ('retry', 'reject', 'bury')),
    reason      text,
    error       text not null,
    node_id     text,
    failed_at   timestamptz not null,
    due_at      timestamptz
);
create index delivery_errors_failed_at_idx on core.delivery_errors (failed_at);
create index delivery_errors_event_uid_idx on core.delivery_errors (event_uid);
create index delivery_errors_namespace_idx on core.delivery_errors (namespace, failed_at desc);
comment on table core.delivery_errors is 'One row a failed attempt, error text of at most 8 KB, kept seven days.';
comment on column core.delivery_errors.due_at is 'When the next attempt is due; NULL where there is none.';
