-- Requests and replies. The row of a request is written by whoever asks, by the handler and by whoever takes the
-- reply, all within minutes, so it is not logged: after a crash it is gone, and what was done for it is an abandoned
-- execution.

create unlogged table core.inbox (
    inbox_id      uuid primary key,
    namespace     text not null,
    target        text not null,
    event_uid     uuid,
    state         text not null check (state in ('waiting', 'running', 'answered')),
    status        integer,
    reply         jsonb,
    error         text,
    requested_by  text not null,
    requested_at  timestamptz not null,
    expires_at    timestamptz not null,
    started_at    timestamptz,
    answered_at   timestamptz,
    xact_id       xid8 not null,
    check ((state = 'answered') = (status is not null))
) with (fillfactor = 50);
create index inbox_expires_at_idx on core.inbox (expires_at);
create index inbox_namespace_idx on core.inbox (namespace);
alter table core.inbox enable row level security;
comment on table core.inbox is 'Requests whose reply was not taken yet; one row each. Not logged: a crash or a failover empties it. Read it through core.request_status; written by core.request and its kin.';
comment on column core.inbox.inbox_id is 'What core.request returned. Whoever knows it and may produce in the namespace takes the reply.';
comment on column core.inbox.namespace is 'The namespace of the request.';
comment on column core.inbox.target is 'The key of the handler, such as go:price.';
comment on column core.inbox.event_uid is 'The event that the request is in the log; NULL: no live node had the handler, so there is none.';
comment on column core.inbox.state is 'waiting: for a node; running: begun by one; answered: for whoever asked to take it.';
comment on column core.inbox.status is '200 with a reply, else what went wrong; NULL until it is answered.';
comment on column core.inbox.reply is 'What the handler returned.';
comment on column core.inbox.error is 'What went wrong, for people.';
comment on column core.inbox.requested_by is 'Who asked: the session user, with the role set, if any.';
comment on column core.inbox.requested_at is 'Database clock when it was asked.';
comment on column core.inbox.expires_at is 'Until then it may begin, and be answered.';
comment on column core.inbox.started_at is 'When a node began it; NULL: none has.';
comment on column core.inbox.answered_at is 'When it was answered.';
comment on column core.inbox.xact_id is 'The transaction that asked, which cannot wait for the reply.';

create table core.abandoned_executions (
    abandoned_id  bigint generated always as identity primary key,
    inbox_id      uuid not null,
    namespace     text not null references core.namespaces on delete cascade,
    target        text not null,
    event_uid     uuid,
    status        integer not null,
    why           text not null,
    summary       text,
    created_at    timestamptz not null
);
create index abandoned_executions_namespace_idx on core.abandoned_executions (namespace, created_at);
create index abandoned_executions_created_at_idx on core.abandoned_executions (created_at);
alter table core.abandoned_executions enable row level security;
comment on table core.abandoned_executions is 'What handlers did for requests whose reply nobody got. Kept for 7 days.';
comment on column core.abandoned_executions.abandoned_id is 'Counts up.';
comment on column core.abandoned_executions.inbox_id is 'The request.';
comment on column core.abandoned_executions.namespace is 'Its namespace.';
comment on column core.abandoned_executions.target is 'The key of the handler that ran.';
comment on column core.abandoned_executions.event_uid is 'The event in the log.';
comment on column core.abandoned_executions.status is 'What the reply would have been: 200, or what went wrong.';
comment on column core.abandoned_executions.why is 'nobody waits: the request had expired, was cancelled or lost when the handler ended; not taken: it was answered in time.';
comment on column core.abandoned_executions.summary is 'The beginning of the reply, or of the error, up to 4 KiB.';
comment on column core.abandoned_executions.created_at is 'Database clock when it was found out.';

insert into core.error_codes (code, meaning, remedy) values
    ('NX113', 'no such request',
        'Its reply was taken, it has expired or was cancelled, or the server crashed meanwhile: ask again if that does no harm.'),
    ('NX219', 'reply awaited in the transaction of the request',
        'Commit first: a node sees the request when it is committed.');
