-- Who owns which events, and which physical queue carries them.

create table core.namespaces (
    namespace          text primary key,
    created_at         timestamptz not null default now(),
    metadata           jsonb not null default '{}',
    options            jsonb not null default '{}',
    default_consumer   boolean not null default true,
    restricted         boolean not null default false,
    named_consumers    boolean not null default false,
    unhandled_after    interval not null default interval '1 hour' check (unhandled_after > interval '0'),
    dedupe_for         interval not null default interval '7 days' check (dedupe_for > interval '0'),
    max_payload_bytes  integer not null default 8388608 check (max_payload_bytes between 1024 and 67108864),
    retry              jsonb not null default '{}',
    updated_at         timestamptz not null default now()
);
comment on table core.namespaces is 'One row a namespace: the unit of ownership, queues, rights and settings. Written by core.create_namespace and core.alter_namespace only.';
comment on column core.namespaces.options is 'What create_namespace was given, to tell a repeated call from a conflicting one.';
comment on column core.namespaces.default_consumer is 'Whether every event goes to the consumer "default"; off for namespaces that use named consumers only.';
comment on column core.namespaces.restricted is 'When true, roles need a row in core.namespace_grants besides their duty role.';
comment on column core.namespaces.named_consumers is 'Whether it has consumers besides "default". Kept by a trigger of core.consumers, so that emit looks for them only where there are any.';
comment on column core.namespaces.unhandled_after is 'How long an event of a type that no live node handles waits before it becomes a dead letter.';
comment on column core.namespaces.dedupe_for is 'How long a dedupe key is remembered.';
comment on column core.namespaces.max_payload_bytes is 'Largest payload, in bytes of its text form.';
comment on column core.namespaces.retry is 'Retry policy of this namespace: max_attempts, shape, base, max, jitter; a missing key takes the default.';

create table core.namespace_grants (
    namespace   text not null references core.namespaces on delete cascade,
    role_name   name not null,
    duty        text not null check (duty in ('produce', 'consume', 'operate', 'read')),
    granted_by  text not null,
    granted_at  timestamptz not null,
    primary key (namespace, role_name, duty)
);
comment on table core.namespace_grants is 'Who may do what in a restricted namespace.';

create table core.consumers (
    consumer_id      integer generated always as identity primary key,
    namespace        text not null references core.namespaces on delete cascade,
    name             text not null,
    kind             text not null default 'unordered' check (kind in ('unordered', 'ordered', 'outbox')),
    patterns         text[] not null,
    queue_name       text,
    state            text not null default 'active' check (state in ('active', 'paused', 'halted')),
    exhausted        text not null default 'dead' check (exhausted in ('dead', 'halt')),
    lanes            integer check (lanes between 1 and 4096),
    generation       integer not null default 1,
    max_in_flight    integer check (max_in_flight > 0),
    starts_from      text not null default 'now',
    unhandled_after  interval check (unhandled_after > interval '0'),
    retry            jsonb not null default '{}',
    created_at       timestamptz not null default now(),
    unique (namespace, name),
    check ((kind = 'unordered') = (queue_name is not null)),
    check ((kind = 'unordered') = (lanes is null))
);
comment on table core.consumers is 'Named groups of handlers, each with a delivery of its own of every event that matches its patterns.';
comment on column core.consumers.patterns is 'Exact event types, prefix.*, prefix:* or *.';
comment on column core.consumers.starts_from is 'Where in the log a new consumer began: now, beginning, or a time.';
comment on column core.consumers.exhausted is 'What happens to a delivery whose attempts are used up: dead (ledger) or halt (the lane stops).';

create table core.queues (
    queue_name   text primary key,
    namespace    text not null references core.namespaces on delete cascade,
    consumer_id  integer unique references core.consumers on delete cascade,
    created_at   timestamptz not null default now()
);
create index queues_namespace_idx on core.queues (namespace);
comment on table core.queues is 'Registry of physical queues. Its key keeps two names from sharing one queue.';
comment on column core.queues.consumer_id is 'The consumer it feeds; NULL for the dead-letter queue of the namespace.';

create table core.error_codes (
    code     text primary key check (code ~ '^NX[0-9]{3}$' and right(code, 2) <> '00'),
    meaning  text not null,
    mend     text not null
);
comment on table core.error_codes is 'SQLSTATEs of class NX: what each means and how it is mended.';
