-- Handlers written in SQL: which function handles the events of a consumer, and for whom a transaction of nexus_sql acts.

-- A function is kept by its name: pg_upgrade refuses a database that stores regprocedure. Its owner is a role and not a
-- name, so that a later role of the same name owns none of it.
create table core_private.sql_handlers (
    consumer_id  integer primary key references core.consumers on delete cascade,
    function     text not null,
    owner        regrole not null,
    timeout      interval not null default interval '30 seconds' check (timeout > interval '0'),
    created_by   text not null,
    created_at   timestamptz not null
);
create index sql_handlers_owner_idx on core_private.sql_handlers (owner);
comment on table core_private.sql_handlers is 'SQL functions that handle the events of a consumer. Read them through core.sql_handlers; written by core.subscribe and core.unsubscribe.';
comment on column core_private.sql_handlers.consumer_id is 'The consumer whose events it gets; one function each.';
comment on column core_private.sql_handlers.function is 'The function with the types of its arguments, as regprocedure shows it.';
comment on column core_private.sql_handlers.owner is 'Who owned it when it was subscribed, as whom it runs. A function of that name with another owner is not called.';
comment on column core_private.sql_handlers.timeout is 'How long a call may take when a node runs it.';
comment on column core_private.sql_handlers.created_by is 'Who subscribed it: the session user, with the role set, if any.';
comment on column core_private.sql_handlers.created_at is 'Database clock when it was subscribed.';

-- Rows live within their transaction, so nothing is lost with it.
create unlogged table core_private.sql_transactions (
    xact_id  xid8 primary key,
    owner    regrole not null
);
comment on table core_private.sql_transactions is 'For whom a transaction of nexus_sql acts. A row is there while that transaction calls handlers, and is never seen by others.';
comment on column core_private.sql_transactions.xact_id is 'The transaction.';
comment on column core_private.sql_transactions.owner is 'The owner of the functions that it calls.';

insert into core.error_codes (code, meaning, remedy) values
    ('NX015', 'function that cannot handle events',
        'The hint has the lines that mend it.'),
    ('NX214', 'consumer has another SQL handler, or one with another timeout',
        'core.unsubscribe first, or choose another consumer.'),
    ('NX215', 'SQL handler was altered while it ran',
        'Nothing is left to do: what it did is undone, and the event is handled again.'),
    ('NX701', 'SQL handler asks for the event again later',
        'Nothing is left to do: see core.retry_event.'),
    ('NX702', 'SQL handler rejects the event',
        'The event is a dead letter: see core.reject_event.'),
    ('NX703', 'SQL handler gives the event back',
        'Nothing is left to do: see core.release_event.');
