-- The log of every event, by month. Nothing may reference it: a foreign key would keep partitions from being detached.

-- CACHE 1: a larger cache inverts half of all neighbours and gains no speed.
create sequence core.event_id_seq as bigint cache 1;
comment on sequence core.event_id_seq is 'event_id of the log. Neither emit order nor commit order.';

-- Its writers check what they write: each CHECK here would be parsed anew for every single emit.
create table core.event_log (
    event_id           bigint not null,
    namespace          text not null,
    event_type         text not null,
    payload            jsonb not null,
    emitted_at         timestamptz not null,
    producer_node_id   text,
    scheduled_task_id  uuid,
    metadata           jsonb not null default '{}',
    event_uid          uuid not null default gen_random_uuid(),
    authored_at        timestamptz,
    slot               timestamptz,
    correlation_id     text,
    causation_uid      uuid,
    depth              integer not null default 0,
    ordering_key       text,
    tags               text[],
    headers            jsonb,
    principal          text,
    primary key (event_id, emitted_at)
) partition by range (emitted_at);
create index event_log_namespace_type_idx on core.event_log (namespace, event_type, emitted_at desc);
create index event_log_emitted_at_idx on core.event_log using brin (emitted_at);

comment on table core.event_log is 'Every event, once, in monthly partitions; kept six months. Payloads are never changed.';
comment on column core.event_log.event_id is 'Unique by its sequence; neither emit order nor commit order.';
comment on column core.event_log.emitted_at is 'Database clock at the call of emit.';
comment on column core.event_log.authored_at is 'When the caller says it happened; NULL where it said nothing.';
comment on column core.event_log.metadata is 'messageId: the message on the default queue; redeliveryCount.';
comment on column core.event_log.depth is 'How many events lie between this one and the first of its chain.';
comment on column core.event_log.principal is 'session_user at emit, with the role set, if any: "login" or "login as role".';

create table core.event_keys (
    namespace   text not null,
    key         text not null,
    event_id    bigint not null,
    event_uid   uuid not null,
    expires_at  timestamptz not null,
    primary key (namespace, key)
);
create index event_keys_expires_at_idx on core.event_keys (expires_at);
comment on table core.event_keys is 'Dedupe keys still remembered, with the event each stands for.';

create table core.delayed (
    delayed_id  bigint generated always as identity primary key,
    due_at      timestamptz not null,
    queue_name  text not null references core.queues on delete cascade,
    event_type  text not null,
    message     jsonb not null,
    headers     jsonb
);
create index delayed_due_at_idx on core.delayed (due_at);
create index delayed_queue_name_idx on core.delayed (queue_name);
comment on table core.delayed is 'Deliveries that are not due yet. They wait here so that the head of the queue stays short.';
