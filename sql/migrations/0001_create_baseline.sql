-- What Nexus stores as of version 0.1.0. This file changes no more: what changes from here on is a migration of its
-- own.

-- ----------------------------------------------------------------------------------------------------
-- Who owns which events, and which physical queue carries them.
-- ----------------------------------------------------------------------------------------------------

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
create index namespaces_restricted_idx on core.namespaces (namespace) where restricted;
comment on table core.namespaces is 'One row a namespace: the unit of ownership, queues, rights and settings. Written by core.create_namespace and core.alter_namespace only.';
comment on column core.namespaces.namespace is 'Its name: up to 30 of a-z, 0-9, "_" and "-".';
comment on column core.namespaces.created_at is 'Database clock when it was created.';
comment on column core.namespaces.metadata is 'What its owners want to note there. Nexus reads none of it.';
comment on column core.namespaces.options is 'What create_namespace and alter_namespace were given, in the words it was given in; the other columns are what is in force.';
comment on column core.namespaces.default_consumer is 'Whether every event goes to the consumer "default"; off for namespaces that use named consumers only.';
comment on column core.namespaces.restricted is 'When true, roles need a row in core.namespace_grants besides their duty role.';
comment on column core.namespaces.named_consumers is 'Whether it has consumers besides "default". Kept by a trigger of core.consumers, so that emit looks for them only where there are any.';
comment on column core.namespaces.unhandled_after is 'How long an event of a type that no live node handles waits before it becomes a dead letter.';
comment on column core.namespaces.dedupe_for is 'How long a dedupe key is remembered.';
comment on column core.namespaces.max_payload_bytes is 'Largest payload, in bytes of its text form.';
comment on column core.namespaces.retry is 'Retry policy of this namespace: max_attempts, shape, base, max, jitter; a missing key takes the default.';
comment on column core.namespaces.updated_at is 'Database clock when its options were changed last, or created_at.';

-- A grant is a role's, not a name's: a later role of the same name has nothing of it. regrole, since dumps write its
-- name.
create table core.namespace_grants (
    namespace   text not null references core.namespaces on delete cascade,
    role        regrole not null,
    role_name   name not null,
    duty        text not null check (duty in ('produce', 'consume', 'operate', 'read')),
    granted_by  text not null,
    granted_at  timestamptz not null,
    primary key (namespace, role, duty)
);
comment on table core.namespace_grants is 'Who may do what in a restricted namespace. Written by core.grant_namespace and core.revoke_namespace.';
comment on column core.namespace_grants.namespace is 'The restricted namespace.';
comment on column core.namespace_grants.role is 'Who holds it. A number where the role has been dropped: such a grant counts for nobody, and a sweep removes it.';
comment on column core.namespace_grants.role_name is 'What the role was called when it was given the grant.';
comment on column core.namespace_grants.duty is 'produce, consume, operate (which includes read) or read.';
comment on column core.namespace_grants.granted_by is 'Who gave it: the session user, with the role set, if any.';
comment on column core.namespace_grants.granted_at is 'Database clock when it was given.';

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
comment on column core.consumers.consumer_id is 'Its number in this database.';
comment on column core.consumers.namespace is 'The namespace whose events it gets.';
comment on column core.consumers.name is 'Unique in the namespace; "default" gets every event.';
comment on column core.consumers.kind is 'unordered: a queue of its own. ordered, outbox: lanes, which come later.';
comment on column core.consumers.patterns is 'Exact event types, prefix.*, prefix:* or *.';
comment on column core.consumers.queue_name is 'The physical queue of an unordered consumer; NULL for other kinds.';
comment on column core.consumers.state is 'active; paused or halted: it gets its events, and nobody is given any.';
comment on column core.consumers.exhausted is 'What happens to a delivery whose attempts are used up: dead (ledger) or halt (the lane stops).';
comment on column core.consumers.lanes is 'How many lanes an ordered consumer has, 1 to 4096; NULL for unordered ones.';
comment on column core.consumers.generation is 'Counts the times its lanes were cut anew; 1 at first.';
comment on column core.consumers.max_in_flight is 'Most deliveries in hand at once, over all nodes; NULL: no limit.';
comment on column core.consumers.starts_from is 'Where in the log a new consumer began: now, beginning, or a time.';
comment on column core.consumers.unhandled_after is 'As that of the namespace, which holds where this is NULL.';
comment on column core.consumers.retry is 'Retry policy of this consumer; a missing key takes that of the namespace.';
comment on column core.consumers.created_at is 'Database clock; events from before never went to it.';

create table core.queues (
    queue_name   text primary key,
    namespace    text not null references core.namespaces on delete cascade,
    consumer_id  integer unique references core.consumers on delete cascade,
    created_at   timestamptz not null default now()
);
create index queues_namespace_idx on core.queues (namespace);
comment on table core.queues is 'Registry of physical queues. Its key keeps two names from sharing one queue.';
comment on column core.queues.queue_name is 'Its name in pgmq: the table is pgmq.q_ and this.';
comment on column core.queues.namespace is 'The namespace whose events it carries.';
comment on column core.queues.consumer_id is 'The consumer it feeds; NULL for the dead-letter queue of the namespace.';
comment on column core.queues.created_at is 'Database clock when it was registered.';

-- ----------------------------------------------------------------------------------------------------
-- Every event, and what waits before it comes to a queue.
-- ----------------------------------------------------------------------------------------------------

-- CACHE 1: a larger cache inverts half of all neighbours and gains no speed.
create sequence core.event_id_seq as bigint cache 1;
comment on sequence core.event_id_seq is 'event_id of the log. Neither emit order nor commit order.';

-- Nothing may reference it: a foreign key would keep partitions from being detached. Its writers check what they
-- write: each CHECK here would be parsed anew for every single emit.
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
comment on column core.event_log.namespace is 'The namespace it was emitted in.';
comment on column core.event_log.event_type is 'What happened, in the words of the namespace.';
comment on column core.event_log.payload is 'What the emitter gave with it.';
comment on column core.event_log.emitted_at is 'Database clock at the call of emit.';
comment on column core.event_log.producer_node_id is 'The node, or whatever name the emitter gave as producer; NULL if it gave none.';
comment on column core.event_log.scheduled_task_id is 'The recurring task whose event it is; NULL for others.';
comment on column core.event_log.metadata is 'messageId: the message on the default queue; redeliveryCount.';
comment on column core.event_log.event_uid is 'Unique in the world. A slot of a task and a one-shot event have one that is known beforehand.';
comment on column core.event_log.authored_at is 'When the caller says it happened; NULL where it said nothing.';
comment on column core.event_log.slot is 'The slot of the task for which it fired; NULL for others and for runs that people asked for.';
comment on column core.event_log.correlation_id is 'What the emitter gave to find events of one affair by.';
comment on column core.event_log.causation_uid is 'event_uid of the event that led to this one; NULL where none is known.';
comment on column core.event_log.depth is 'How many events lie between this one and the first of its chain.';
comment on column core.event_log.ordering_key is 'Events with one key keep their order at ordered consumers, which come later.';
comment on column core.event_log.tags is 'Words the emitter gave to find it by.';
comment on column core.event_log.headers is 'Headers the emitter gave; they go with each delivery.';
comment on column core.event_log.principal is 'session_user at emit, with the role set, if any: "login" or "login as role".';

create table core.event_keys (
    namespace   text not null,
    key         text not null,
    event_id    bigint not null,
    event_uid   uuid not null,
    expires_at  timestamptz not null,
    msg_id      bigint,
    primary key (namespace, key)
);
create index event_keys_expires_at_idx on core.event_keys (expires_at);
comment on table core.event_keys is 'Dedupe keys still remembered, with the event each stands for.';
comment on column core.event_keys.namespace is 'A key is one namespace''s.';
comment on column core.event_keys.key is 'The dedupe_key that emit was given.';
comment on column core.event_keys.event_id is 'event_id of the event that was emitted under it.';
comment on column core.event_keys.event_uid is 'event_uid of that event.';
comment on column core.event_keys.expires_at is 'From then on the key may be used for another event.';
comment on column core.event_keys.msg_id is 'With dedupe_while the message on the default queue: the key holds for as long as that is there, delayed or parked. NULL: it holds until expires_at.';

create table core.delayed (
    delayed_id    bigint generated always as identity primary key,
    due_at        timestamptz not null,
    queue_name    text not null references core.queues on delete cascade,
    event_type    text not null,
    message       jsonb not null,
    headers       jsonb,
    msg_id        bigint,
    read_ct       integer,
    enqueued_at   timestamptz,
    last_read_at  timestamptz,
    check (num_nonnulls(msg_id, read_ct, enqueued_at) in (0, 3))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index delayed_due_at_idx on core.delayed (due_at);
create index delayed_queue_name_idx on core.delayed (queue_name, due_at);
-- Whether the delivery of a task waits there.
create index delayed_msg_id_idx on core.delayed (queue_name, msg_id) where msg_id is not null;
comment on table core.delayed is 'Deliveries that are not due yet: emitted with a delay, or taken off the queue because their next attempt is far away. They wait here so that the head of the queue stays short.';
comment on column core.delayed.delayed_id is 'Counts up; the order of arrival here.';
comment on column core.delayed.due_at is 'When it goes to its queue.';
comment on column core.delayed.queue_name is 'The queue it goes to.';
comment on column core.delayed.event_type is 'Event type of the message; unknown.raw for one that is no envelope.';
comment on column core.delayed.message is 'The message as it will be on the queue.';
comment on column core.delayed.headers is 'Its headers, those of Nexus (nexus-…) among them.';
comment on column core.delayed.msg_id is 'The message it was and will be; NULL for what has not been on the queue yet.';
comment on column core.delayed.read_ct is 'How often it was claimed; NULL for what has not been on the queue yet.';
comment on column core.delayed.enqueued_at is 'When it came to the queue first; NULL for what has not been there yet.';
comment on column core.delayed.last_read_at is 'When it was claimed last; NULL if it never was.';

-- ----------------------------------------------------------------------------------------------------
-- Running processes, what each can do, and who waits for a wake-up.
-- ----------------------------------------------------------------------------------------------------

create table core.nodes (
    node_id             text primary key,
    namespace           text not null references core.namespaces on delete cascade,
    display_name        text,
    description         text,
    metadata            jsonb not null default '{}',
    registered_at       timestamptz not null default now(),
    last_heartbeat      timestamptz not null default now(),
    incarnation         uuid not null default gen_random_uuid(),
    state               text not null default 'starting'
            check (state in ('starting', 'active', 'draining', 'stopped', 'lost')),
    version             text,
    capabilities        jsonb not null default '{}',
    heartbeat_every     interval not null default interval '30 seconds' check (heartbeat_every > interval '0'),
    principal           text,
    drain_requested_at  timestamptz,
    session_pid         integer,
    unique (namespace, node_id)
);
create index nodes_namespace_idx on core.nodes (namespace);
comment on table core.nodes is 'One row a node id. A restart keeps the row and changes its incarnation.';
comment on column core.nodes.node_id is 'Unique in the database.';
comment on column core.nodes.namespace is 'The namespace it works for.';
comment on column core.nodes.display_name is 'A name for people.';
comment on column core.nodes.description is 'A sentence for people.';
comment on column core.nodes.metadata is 'What the node tells of itself, such as its host and process.';
comment on column core.nodes.registered_at is 'Database clock when this incarnation registered.';
comment on column core.nodes.last_heartbeat is 'Database clock of its last sign of life.';
comment on column core.nodes.incarnation is 'One life of the node: another value after each start.';
comment on column core.nodes.state is 'starting, active, draining, stopped (said goodbye) or lost (three heartbeats missed). Leases end by their own time, whatever the state.';
comment on column core.nodes.version is 'Version of the program, as it told.';
comment on column core.nodes.capabilities is 'A summary for people; what claims rest on is core_private.node_capabilities.';
comment on column core.nodes.heartbeat_every is 'Time between heartbeats. After three of them without one the node counts as lost.';
comment on column core.nodes.principal is 'Who registered it: the session user, with the role set, if any.';
comment on column core.nodes.drain_requested_at is 'When somebody asked this incarnation to drain; it does so at once or with its next heartbeat.';
comment on column core.nodes.session_pid is 'Server process of the session that sent the last heartbeat. When that is gone the node was killed, and may come back under its id without waiting.';

create table core_private.node_capabilities (
    node_id      text not null references core.nodes on delete cascade,
    incarnation  uuid not null,
    kind         text not null check (kind in ('event_type', 'workflow')),
    consumer     text not null default '',
    key          text not null,
    primary key (node_id, incarnation, kind, consumer, key)
);
comment on table core_private.node_capabilities is 'What each live node can do: patterns of event types, later workflow definitions.';
comment on column core_private.node_capabilities.node_id is 'The node.';
comment on column core_private.node_capabilities.incarnation is 'Its life that can do it.';
comment on column core_private.node_capabilities.kind is 'event_type, later workflow.';
comment on column core_private.node_capabilities.consumer is 'For kind event_type: the consumer that handles it. Empty for other kinds.';
comment on column core_private.node_capabilities.key is 'A pattern of event types; for other kinds what identifies it.';

-- A crash may empty it: who waits goes on polling, so a lost flag costs a second at most.
create unlogged table core_private.wake_flags (
    key            text primary key,
    waiting_until  timestamptz not null
) with (fillfactor = 50);
comment on table core_private.wake_flags is 'Keys (queues, later lanes and workflows) somebody waits for; emit notifies only then.';
comment on column core_private.wake_flags.key is 'Name of a queue, or "timers".';
comment on column core_private.wake_flags.waiting_until is 'Somebody listens until then; emit notifies only before.';

create table core_private.metric_samples (
    namespace   text primary key references core.namespaces on delete cascade,
    sampled_at  timestamptz not null,
    sample      jsonb not null default '{}'
);
comment on table core_private.metric_samples is 'What core_node.metrics_sample() found last: one look serves all nodes of a namespace.';
comment on column core_private.metric_samples.namespace is 'The namespace it is about.';
comment on column core_private.metric_samples.sampled_at is '-infinity until the first look.';
comment on column core_private.metric_samples.sample is 'What was found, as core_node.metrics_sample() gives it.';

-- ----------------------------------------------------------------------------------------------------
-- What nodes have in hand without a lease, and what they died of.
-- ----------------------------------------------------------------------------------------------------

create table core_private.express_batches (
    queue_name   text not null,
    marker_id    bigint generated always as identity,
    xact_id      bigint not null,
    backend_pid  integer,
    node_id      text not null,
    incarnation  uuid,
    lowest       bigint not null,
    highest      bigint not null,
    msg_ids      bigint[],
    opened_at    timestamptz not null,
    doubted_at   timestamptz,
    died_at      timestamptz,
    primary key (queue_name, marker_id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
comment on table core_private.express_batches is 'One row an express batch in hand: written on another connection before handlers run, removed by the batch''s own transaction. A row whose transaction has ended belongs to a node that died.';
comment on column core_private.express_batches.queue_name is 'The queue the batch was taken from.';
comment on column core_private.express_batches.marker_id is 'Counts up; nodes look from the last one they know on.';
comment on column core_private.express_batches.xact_id is 'The transaction of the batch, which holds its messages.';
comment on column core_private.express_batches.backend_pid is 'The backend that the transaction runs in; NULL where the node does not know it.';
comment on column core_private.express_batches.node_id is 'The node that has the batch; empty if it gave none.';
comment on column core_private.express_batches.incarnation is 'That of the node; NULL if it was not registered.';
comment on column core_private.express_batches.lowest is 'Lowest msg_id of the batch.';
comment on column core_private.express_batches.highest is 'Highest msg_id of the batch.';
comment on column core_private.express_batches.msg_ids is 'The messages, where lowest and highest say too little.';
comment on column core_private.express_batches.opened_at is 'Database clock when it was marked, before its handlers ran.';
comment on column core_private.express_batches.doubted_at is 'When the end of the transaction was noticed while the node might live: it has five seconds to take the mark back.';
comment on column core_private.express_batches.died_at is 'When the death was noticed. Until five minutes after the latest one the consumer uses leases.';

-- ----------------------------------------------------------------------------------------------------
-- Types that nobody handles.
-- ----------------------------------------------------------------------------------------------------

create table core.parked (
    queue_name    text not null references core.queues on delete cascade,
    event_type    text collate "C" not null,
    msg_id        bigint not null,
    namespace     text not null,
    event_id      bigint,
    read_ct       integer not null,
    enqueued_at   timestamptz not null,
    last_read_at  timestamptz,
    message       jsonb not null,
    headers       jsonb,
    parked_at     timestamptz not null,
    lived         interval not null,
    primary key (queue_name, event_type, msg_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index parked_lived_idx on core.parked (queue_name, lived);
create index parked_event_id_idx on core.parked (event_id);
comment on table core.parked is 'Messages of types that no live node of their consumer handles, taken off the queue as they were: msg_id, read_ct, headers and enqueued_at stay. They go back as soon as a node handles the type.';
comment on column core.parked.queue_name is 'The physical queue it was taken from and goes back to.';
comment on column core.parked.event_type is 'Event type of the message, which nobody handles.';
comment on column core.parked.msg_id is 'The message it was on the queue, and will be again.';
comment on column core.parked.namespace is 'The namespace of the queue.';
comment on column core.parked.event_id is 'That of the envelope, for look-ups; NULL where the message names none.';
comment on column core.parked.read_ct is 'How often it had been claimed.';
comment on column core.parked.enqueued_at is 'When it came to the queue.';
comment on column core.parked.last_read_at is 'When it was claimed last; NULL if it never was.';
comment on column core.parked.message is 'The message as it was.';
comment on column core.parked.headers is 'Its headers, those of Nexus (nexus-…) among them.';
comment on column core.parked.parked_at is 'Database clock when it was taken off the queue.';
comment on column core.parked.lived is 'How long nodes of the consumer had lived in all when it was parked. It becomes a dead letter when they have lived unhandled_after longer.';

create table core_private.parking (
    queue_name  text primary key references core.queues on delete cascade,
    lived       interval not null default interval '0',
    seen_at     timestamptz not null,
    looked_to   bigint not null default 0,
    rest_until  timestamptz not null default '-infinity',
    removed     bigint not null default 0
);
comment on table core_private.parking is 'One row a queue whose consumer has had a node: where the search for unhandled types stands. Whoever writes to core.parked locks the row of the queue.';
comment on column core_private.parking.queue_name is 'The queue that is searched.';
comment on column core_private.parking.lived is 'How long some node of the consumer has lived, in all. An outage of all nodes does not count.';
comment on column core_private.parking.seen_at is 'Up to when lived has been counted.';
comment on column core_private.parking.looked_to is 'The message up to which the queue has been searched; 0: begin anew.';
comment on column core_private.parking.rest_until is 'No search before: one that took long is followed by a rest.';
comment on column core_private.parking.removed is 'Deliveries to the consumer default that nobody handled and that were removed, since another consumer had the event.';

-- ----------------------------------------------------------------------------------------------------
-- One ledger for whatever was given up, and the history of failed attempts.
-- ----------------------------------------------------------------------------------------------------

create table core.dead_letters (
    dead_letter_id    bigint generated always as identity primary key,
    namespace         text not null references core.namespaces on delete cascade,
    consumer          text,
    event_type        text,
    source_kind       text not null
            check (source_kind in ('delivery', 'lane', 'task', 'trigger', 'workflow_step', 'workflow_compensation')),
    source_ref        jsonb not null,
    round             integer not null default 0 check (round >= 0),
    queue_name        text,
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
    resolution        text
            check (resolution in ('replayed', 'ignored', 'handled_by_handler', 'discarded', 'expired', 'cancelled')),
    resolved_at       timestamptz,
    resolved_by       text,
    resolved_reason   text,
    replay_of         bigint,
    replay_count      integer not null default 0,
    replay_msg_id     bigint,
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
-- So that a result that was buried is found by its message when it is sent again.
create index dead_letters_msg_id_idx on core.dead_letters (queue_name, msg_id) where source_kind = 'delivery';
-- Groups are counted from the index alone. A reason may be longer than an entry of an index: the few that are have
-- one of their own.
create index dead_letters_groups_idx
    on core.dead_letters (namespace, event_type, consumer, source_kind, reason, failed_at)
    where resolved_at is null and octet_length(reason) <= 200;
create index dead_letters_long_reasons_idx on core.dead_letters (namespace)
    where resolved_at is null and octet_length(reason) > 200;
comment on table core.dead_letters is 'Everything that was given up: deliveries, later lanes, tasks, triggers and workflow steps. Unresolved rows are never removed by retention.';
comment on column core.dead_letters.dead_letter_id is 'Identifies it; what core.replay_dead_letter and the others take.';
comment on column core.dead_letters.namespace is 'The namespace it belongs to.';
comment on column core.dead_letters.consumer is 'The consumer whose delivery it was; NULL for what is none.';
comment on column core.dead_letters.event_type is 'Event type of the event; unknown.raw for a message that was no envelope.';
comment on column core.dead_letters.source_kind is 'What was given up: delivery; task: a one-shot event that could not be emitted; the others come later.';
comment on column core.dead_letters.source_ref is 'What it came from: for a delivery {queue, eventUid}, or {queue, msgId} of a message that was no envelope.';
comment on column core.dead_letters.round is 'How often the same source has been buried before.';
comment on column core.dead_letters.queue_name is 'The queue it was taken from; NULL for what is no delivery.';
comment on column core.dead_letters.msg_id is 'The message it was on that queue; NULL for what is no delivery.';
comment on column core.dead_letters.dlq_msg_id is 'The copy on the dead-letter queue; it may be gone.';
comment on column core.dead_letters.event_id is 'event_id of the log; NULL where the message named none.';
comment on column core.dead_letters.event_uid is 'event_uid of the event; schedule_id of a one-shot event; NULL where the message named none.';
comment on column core.dead_letters.payload is 'Payload of the event, or the whole message that was no envelope.';
comment on column core.dead_letters.envelope is 'The message without its payload; NULL where the message was no envelope.';
comment on column core.dead_letters.headers is 'Headers the producer gave.';
comment on column core.dead_letters.body is 'What was no JSON; payload is NULL then. Comes with lanes.';
comment on column core.dead_letters.body_type is 'Content type of body.';
comment on column core.dead_letters.attempts is 'Attempts that were used up.';
comment on column core.dead_letters.first_attempt_at is 'When the first attempt began, as far as it is known.';
comment on column core.dead_letters.last_attempt_at is 'When the last attempt began; NULL if there was none.';
comment on column core.dead_letters.failed_at is 'Database clock when it was given up.';
comment on column core.dead_letters.reason is 'Why, in a word or two: error, panic, timeout, what a handler that rejected it said …';
comment on column core.dead_letters.last_error is 'Error text of the last attempt, at most 8 KB; the reason where there was none.';
comment on column core.dead_letters.lane is 'The lane it was in. Comes with ordered consumers.';
comment on column core.dead_letters.lane_seq is 'Its place in that lane.';
comment on column core.dead_letters.ordering_key is 'ordering_key of the event, if it has one.';
comment on column core.dead_letters.status is 'pending; reprocessing: claimed by a handler of dead letters; resolved.';
comment on column core.dead_letters.deadline is 'Until when that claim holds; NULL while there is none.';
comment on column core.dead_letters.claim_token is 'What proves that claim; NULL while there is none.';
comment on column core.dead_letters.resolution is 'How it was settled: replayed, ignored, handled_by_handler, discarded, expired, or cancelled (a delivery that somebody took back); NULL while it is not.';
comment on column core.dead_letters.resolved_at is 'Database clock when it was settled; NULL while it is not.';
comment on column core.dead_letters.resolved_by is 'Session user, with the role set, if any.';
comment on column core.dead_letters.resolved_reason is 'What was given as the reason for settling it so.';
comment on column core.dead_letters.replay_of is 'The dead letter whose replay was buried here.';
comment on column core.dead_letters.replay_count is 'How many replays lie before this one.';
comment on column core.dead_letters.replay_msg_id is 'The message it was put back as; NULL while that waits in core.delayed, and for what is no delivery.';

create table core.delivery_errors (
    error_id    bigint generated always as identity primary key,
    namespace   text not null,
    consumer    text not null,
    queue_name  text not null,
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
comment on column core.delivery_errors.error_id is 'Counts up; about the order of failures.';
comment on column core.delivery_errors.namespace is 'The namespace of the queue.';
comment on column core.delivery_errors.consumer is 'The consumer whose delivery it was.';
comment on column core.delivery_errors.queue_name is 'The queue it was on.';
comment on column core.delivery_errors.msg_id is 'The message on that queue.';
comment on column core.delivery_errors.event_id is 'event_id of the log; NULL where the message named none.';
comment on column core.delivery_errors.event_uid is 'event_uid of the event; NULL where the message named none.';
comment on column core.delivery_errors.event_type is 'Event type of the event; unknown.raw for a message that was no envelope.';
comment on column core.delivery_errors.attempt is 'Which attempt failed; 1 is the first.';
comment on column core.delivery_errors.action is 'What became of it: retry: it is tried again; bury: it became a dead letter.';
comment on column core.delivery_errors.reason is 'Why, in a word or two; NULL where nothing was said.';
comment on column core.delivery_errors.error is 'Error text of the handler, or the reason where there was none.';
comment on column core.delivery_errors.node_id is 'The node that had it; NULL where none did.';
comment on column core.delivery_errors.failed_at is 'Database clock when it was settled.';
comment on column core.delivery_errors.due_at is 'When the next attempt is due; NULL where there is none.';

-- ----------------------------------------------------------------------------------------------------
-- Recurring tasks: what fires when, the proof that each slot fired once, and what drives it all.
-- ----------------------------------------------------------------------------------------------------

create table core.scheduled_tasks (
    task_id          uuid primary key default gen_random_uuid(),
    namespace        text not null references core.namespaces on delete cascade,
    job_id           bigint,
    name             text not null check (octet_length(name) between 1 and 200),
    cron_expression  text not null,
    event_type       text not null,
    payload          jsonb not null default '{}',
    timezone         text not null default 'UTC',
    active           boolean not null default true,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now(),
    misfire          text not null default 'fire_once',
    misfire_after    interval not null default interval '2 minutes',
    backfill         integer not null default 0,
    overlap          text not null,
    jitter           interval not null default interval '0',
    starts_at        timestamptz,
    ends_at          timestamptz,
    owner            text,
    registered_by    text not null,
    spec             jsonb not null,
    jitter_offset    interval not null default interval '0',
    next_slot        timestamptz,
    next_run_at      timestamptz,
    waiting_slot     timestamptz,
    last_slot        timestamptz,
    last_run_at      timestamptz,
    failures         integer not null default 0,
    last_error       text,
    unique (namespace, name)
) with (fillfactor = 70);
create index scheduled_tasks_due_idx on core.scheduled_tasks (next_run_at) where next_run_at is not null;
create index scheduled_tasks_waiting_idx on core.scheduled_tasks (task_id) where waiting_slot is not null;
comment on table core.scheduled_tasks is 'Recurring tasks: each emits its event at each slot. INSERT, UPDATE and DELETE are checked, and keep pg_cron''s jobs in step.';
comment on column core.scheduled_tasks.task_id is 'Identifies the task; scheduledTaskId of its events.';
comment on column core.scheduled_tasks.namespace is 'The namespace its events are emitted in.';
comment on column core.scheduled_tasks.job_id is 'The task''s own job in pg_cron, where it has one. Nothing depends on it: core.tick() and nodes fire every task.';
comment on column core.scheduled_tasks.name is 'Unique in the namespace, up to 200 bytes.';
comment on column core.scheduled_tasks.cron_expression is 'Five fields, @hourly to @yearly, or @every with a duration.';
comment on column core.scheduled_tasks.event_type is 'Event type of its events.';
comment on column core.scheduled_tasks.payload is 'Payload of its events.';
comment on column core.scheduled_tasks.timezone is 'IANA name of the time zone in which the expression is read.';
comment on column core.scheduled_tasks.active is 'Whether it fires; false while paused.';
comment on column core.scheduled_tasks.created_at is 'Database clock when it was created.';
comment on column core.scheduled_tasks.updated_at is 'Database clock when it was changed last.';
comment on column core.scheduled_tasks.misfire is 'What becomes of slots older than misfire_after: skip, fire_once (the newest) or backfill (the newest n, oldest first).';
comment on column core.scheduled_tasks.misfire_after is 'Slots no older than this are late, not missed, and all fire.';
comment on column core.scheduled_tasks.backfill is 'How many missed slots misfire backfill catches up.';
comment on column core.scheduled_tasks.overlap is 'What becomes of a slot while the event of an earlier one is undelivered or running: allow, skip or queue_one.';
comment on column core.scheduled_tasks.jitter is 'The task fires up to this much after its slot, always by the same share of it. Its slot stays the same.';
comment on column core.scheduled_tasks.starts_at is 'No slot before this time; NULL: no limit.';
comment on column core.scheduled_tasks.ends_at is 'No slot after this time; NULL: no limit.';
comment on column core.scheduled_tasks.owner is 'Which deployment declared it; NULL for tasks made by hand.';
comment on column core.scheduled_tasks.registered_by is 'The role that last said what fires when. Set from the session, and asked for its rights at each firing.';
comment on column core.scheduled_tasks.spec is 'The compiled expression.';
comment on column core.scheduled_tasks.jitter_offset is 'This task''s share of jitter.';
comment on column core.scheduled_tasks.next_slot is 'The slot that comes next; NULL while paused and after the last.';
comment on column core.scheduled_tasks.next_run_at is 'When it is tried: next_slot with the jitter, or later after a failure.';
comment on column core.scheduled_tasks.waiting_slot is 'Under overlap queue_one: the slot that waits for the event before it.';
comment on column core.scheduled_tasks.last_slot is 'The slot that fired last.';
comment on column core.scheduled_tasks.last_run_at is 'Database clock when it fired last.';
comment on column core.scheduled_tasks.failures is 'Failed firings since the last good one.';
comment on column core.scheduled_tasks.last_error is 'SQLSTATE and text of the last failed firing; NULL after a good one.';

create table core.task_slots (
    task_id      uuid not null,
    slot         timestamptz not null,
    namespace    text not null,
    status       text not null check (status in ('fired', 'caught_up', 'skipped', 'waiting', 'missed')),
    reason       text,
    until        timestamptz,
    event_id     bigint,
    event_uid    uuid,
    recorded_at  timestamptz not null,
    lateness     interval,
    primary key (task_id, slot),
    check ((event_id is not null) = (status in ('fired', 'caught_up')))
);
create index task_slots_recorded_at_idx on core.task_slots (recorded_at);
comment on table core.task_slots is 'What became of each slot of a task: the proof that none fires twice. Kept seven days, also after the task.';
comment on column core.task_slots.task_id is 'The task; its row may be gone.';
comment on column core.task_slots.slot is 'The time the expression names.';
comment on column core.task_slots.namespace is 'The namespace of the task.';
comment on column core.task_slots.status is 'fired; caught_up (fired as a misfire); skipped (overlap, pause or edit); waiting (overlap queue_one); missed. Only missed and waiting may yet become fired.';
comment on column core.task_slots.reason is 'Why it was skipped, missed or waits; NULL where it fired.';
comment on column core.task_slots.until is 'Where the row stands for all slots from slot up to this time, which is not one of them; other rows in between say better.';
comment on column core.task_slots.event_id is 'event_id of the event in the log; NULL unless it fired.';
comment on column core.task_slots.event_uid is 'event_uid of that event; NULL unless it fired.';
comment on column core.task_slots.recorded_at is 'Database clock when this was written.';
comment on column core.task_slots.lateness is 'From the slot to its firing.';

create table core.task_runs (
    run_id     bigint generated always as identity primary key,
    task_id    uuid not null,
    namespace  text not null,
    ran_at     timestamptz not null,
    ran_by     text not null,
    event_id   bigint not null,
    event_uid  uuid not null
);
create index task_runs_task_id_idx on core.task_runs (task_id, ran_at desc);
create index task_runs_ran_at_idx on core.task_runs (ran_at);
comment on table core.task_runs is 'Runs that people asked for, which have no slot. Kept as long as core.task_slots.';
comment on column core.task_runs.run_id is 'Counts up.';
comment on column core.task_runs.task_id is 'The task; its row may be gone.';
comment on column core.task_runs.namespace is 'The namespace of the task.';
comment on column core.task_runs.ran_at is 'Database clock at the call.';
comment on column core.task_runs.ran_by is 'Who asked for it: the session user, with the role set, if any.';
comment on column core.task_runs.event_id is 'event_id of the event in the log.';
comment on column core.task_runs.event_uid is 'event_uid of that event.';

-- Not tied to the queue by a key: rows of what was acked stay until somebody asks.
create table core_private.task_deliveries (
    queue_name  text not null references core.queues on delete cascade,
    msg_id      bigint not null,
    task_id     uuid not null references core.scheduled_tasks on delete cascade,
    slot        timestamptz,
    event_id    bigint not null,
    primary key (queue_name, msg_id)
);
create index task_deliveries_task_id_idx on core_private.task_deliveries (task_id);
comment on table core_private.task_deliveries is 'Deliveries of tasks whose overlap policy is not allow, to see whether they are still under way.';
comment on column core_private.task_deliveries.queue_name is 'The queue the delivery is on.';
comment on column core_private.task_deliveries.msg_id is 'The message on that queue.';
comment on column core_private.task_deliveries.task_id is 'The task whose event it is.';
comment on column core_private.task_deliveries.slot is 'NULL for a run that somebody asked for.';
comment on column core_private.task_deliveries.event_id is 'event_id of that event.';

-- What becomes of the slots of one task that are due. Missed ones are a range [missed_from, missed_to).
create type core_private.slot_plan as (
    slots        timestamptz[],
    statuses     text[],
    missed_from  timestamptz,
    missed_to    timestamptz,
    next_slot    timestamptz
);
comment on type core_private.slot_plan is 'Result of core_private.plan_slots.';

create table core_private.deployments (
    owner      text not null,
    namespace  text not null references core.namespaces on delete cascade,
    primary key (owner, namespace)
);
create index deployments_namespace_idx on core_private.deployments (namespace);
comment on table core_private.deployments is 'Rows to lock: the deployments of one owner go one after the other, in each namespace they touch.';
comment on column core_private.deployments.owner is 'The owner that the tasks of a deployment name.';
comment on column core_private.deployments.namespace is 'A namespace in which it has declared tasks.';

create table core_private.timezones (
    name         text primary key,
    window_from  timestamp not null,
    changes      text not null,
    changed_at   timestamptz
);
create unique index timezones_fold_idx on core_private.timezones (lower(name collate "C"));
comment on table core_private.timezones is 'Time zones that tasks may use; kept by core_private.refresh_timezones.';
comment on column core_private.timezones.name is 'IANA name, as pg_timezone_names spells it.';
comment on column core_private.timezones.window_from is 'Begin of the two years, in UTC, that changes covers.';
comment on column core_private.timezones.changes is 'Offsets within the window, to notice new zone data by.';
comment on column core_private.timezones.changed_at is 'When new rules for the zone were noticed last; slots computed before are void.';

create table core_private.scheduler (
    id             boolean primary key default true check (id),
    scheduler      text not null default 'auto' check (scheduler in ('pg_cron', 'nodes', 'auto')),
    max_cron_jobs  integer not null default 20 check (max_cron_jobs between 0 and 1000),
    keep_slots     interval not null default interval '7 days' check (keep_slots >= interval '1 hour'),
    last_tick_at   timestamptz
) with (fillfactor = 50);
comment on table core_private.scheduler is 'Settings and state of the scheduler, one row. Written by core.alter_scheduler and by firing.';
comment on column core_private.scheduler.id is 'true; there is one row.';
comment on column core_private.scheduler.scheduler is 'Who fires tasks: pg_cron (nodes step in when it is overdue), nodes (tasks get no jobs of their own), auto (both).';
comment on column core_private.scheduler.max_cron_jobs is 'How many tasks may have a job of their own in pg_cron, 0 to 1000.';
comment on column core_private.scheduler.keep_slots is 'How long core.task_slots and core.task_runs are kept.';
comment on column core_private.scheduler.last_tick_at is 'When due tasks were last looked for, to 5 s. A clock that stands well before it was set back.';

create table core_private.cron_slots (
    n        integer primary key check (n > 0),
    task_id  uuid unique references core.scheduled_tasks on delete set null
);
comment on table core_private.cron_slots is 'The jobs that tasks may have in pg_cron, max_cron_jobs of them, and which task has each.';
comment on column core_private.cron_slots.n is 'Number of the job among those that tasks may have, from 1.';
comment on column core_private.cron_slots.task_id is 'The task that has it; NULL while it is free.';

-- ----------------------------------------------------------------------------------------------------
-- One-shot events: what is to be emitted, and, once it is, the proof of that.
-- ----------------------------------------------------------------------------------------------------

create table core.scheduled_events (
    schedule_id        uuid not null,
    namespace          text not null references core.namespaces on delete cascade,
    fire_at            timestamptz not null,
    due_at             timestamptz not null,
    status             text not null default 'pending' check (status in ('pending', 'appended', 'cancelled', 'failed')),
    event_type         text not null,
    tags               text[],
    payload            jsonb not null,
    metadata           jsonb not null default '{}',
    version            integer not null default 1,
    message_timestamp  timestamptz not null,
    created_at         timestamptz not null,
    content_hash       bytea not null,
    payload_bytes      integer not null,
    attempts           integer not null default 0 check (attempts >= 0),
    first_failed_at    timestamptz,
    last_error         text,
    event_id           bigint,
    principal          text not null,
    depth              integer not null default 0 check (depth >= 0),
    finished_at        timestamptz,
    finished_by        text,
    primary key (schedule_id, namespace),
    check ((status = 'appended') = (event_id is not null)),
    check ((status in ('appended', 'cancelled')) = (finished_at is not null))
) with (
    fillfactor = 90, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0);
create index scheduled_events_due_at_idx on core.scheduled_events (due_at) where status = 'pending';
create index scheduled_events_namespace_idx on core.scheduled_events (namespace, status, due_at);
create index scheduled_events_finished_at_idx on core.scheduled_events (finished_at) where finished_at is not null;
comment on table core.scheduled_events is 'One-shot events. A row that is no longer pending is a tombstone, which is kept 30 days: it says what became of the event.';
comment on column core.scheduled_events.schedule_id is 'The event_uid of the event to come. It is one event''s in its namespace.';
comment on column core.scheduled_events.namespace is 'The namespace it is emitted in.';
comment on column core.scheduled_events.fire_at is 'When the caller wants it.';
comment on column core.scheduled_events.due_at is 'When it is tried: fire_at, moved by retries, and never before the row was written.';
comment on column core.scheduled_events.status is 'pending; appended: it is in the log; cancelled; failed: attempts used up, it is a dead letter.';
comment on column core.scheduled_events.event_type is 'Event type of the event to come.';
comment on column core.scheduled_events.tags is 'Tags of the event to come.';
comment on column core.scheduled_events.payload is 'Payload of the event to come.';
comment on column core.scheduled_events.metadata is 'Options of the event: headers, ordering_key, producer, correlation_id, causation_uid, broadcast.';
comment on column core.scheduled_events.version is 'Begins at 1; each reschedule adds one.';
comment on column core.scheduled_events.message_timestamp is 'authored_at of the event: what the caller said, else when it was scheduled.';
comment on column core.scheduled_events.created_at is 'Database clock when it was scheduled.';
comment on column core.scheduled_events.content_hash is 'Of what schedule_event was given, to tell a repeated call from a conflicting one, also after a reschedule.';
comment on column core.scheduled_events.payload_bytes is 'Size of the payload in its text form, in bytes.';
comment on column core.scheduled_events.attempts is 'Failed attempts to emit it.';
comment on column core.scheduled_events.first_failed_at is 'When it could not be emitted for the first time; NULL if it never failed.';
comment on column core.scheduled_events.last_error is 'SQLSTATE and text of the last failure; NULL once it is in the log.';
comment on column core.scheduled_events.event_id is 'In core.event_log, once it is there.';
comment on column core.scheduled_events.principal is 'Who scheduled it; recorded with the event.';
comment on column core.scheduled_events.depth is 'How many events lie between this one and the first of its chain.';
comment on column core.scheduled_events.finished_at is 'When it was appended or cancelled.';
comment on column core.scheduled_events.finished_by is 'Who cancelled it.';

-- While an old snapshot is held, what has fired stays in the index, and each claim would read all of it again.
create table core_private.fire_floor (
    singleton  boolean primary key default true check (singleton),
    floor      timestamptz not null default '-infinity',
    swept_at   timestamptz not null default '-infinity'
);
comment on table core_private.fire_floor is 'One row: where claims of due scheduled events begin to look, and when one last looked at all of them.';
comment on column core_private.fire_floor.singleton is 'true; there is one row.';
comment on column core_private.fire_floor.floor is 'Claims begin to look here: no pending event is due before, but for what committed late.';
comment on column core_private.fire_floor.swept_at is 'When a claim looked from the beginning last.';

-- ----------------------------------------------------------------------------------------------------
-- Upkeep: what core.tick() runs and how it went; what people did; what only one may do at a time.
-- ----------------------------------------------------------------------------------------------------

create table core_private.sweeps (
    name             text primary key,
    function         text not null,
    every            interval not null check (every > interval '0'),
    driven_by        text not null default 'tick' check (driven_by in ('tick', 'job')),
    position         integer not null,
    enabled          boolean not null default true,
    last_started_at  timestamptz,
    last_ok_at       timestamptz,
    last_ms          double precision,
    last_result      jsonb,
    last_error       text,
    failures         integer not null default 0,
    registered_at    timestamptz not null default now(),
    last_queue       text
);
comment on table core_private.sweeps is 'Registered sweeps. Read them through core.sweep_status.';
comment on column core_private.sweeps.name is 'What it is called in core.sweep_status and core.run_sweep.';
comment on column core_private.sweeps.function is 'The call that it runs.';
comment on column core_private.sweeps.every is 'How often it is due.';
comment on column core_private.sweeps.driven_by is 'tick: run by core.tick when due. job: has a pg_cron job of its own, and the tick steps in when that is overdue.';
comment on column core_private.sweeps.position is 'In which order those that are due run.';
comment on column core_private.sweeps.enabled is 'Whether it runs at all.';
comment on column core_private.sweeps.last_started_at is 'Database clock when it began last.';
comment on column core_private.sweeps.last_ok_at is 'Database clock when it last went well; NULL before it ever did.';
comment on column core_private.sweeps.last_ms is 'How long the last run took, in milliseconds.';
comment on column core_private.sweeps.last_result is 'What the last good run returned.';
comment on column core_private.sweeps.last_error is 'SQLSTATE and text of the last run; NULL if it went well.';
comment on column core_private.sweeps.failures is 'Failed runs since the last good one.';
comment on column core_private.sweeps.registered_at is 'Since when it could have run.';
comment on column core_private.sweeps.last_queue is 'Where a sweep that takes some queues a run has ended; the next one goes on after it.';

-- Anyone may take an advisory lock, under any key. Rows of a private table can be locked by nobody but the owner's
-- functions.
create table core_private.locks (
    name  text primary key
);
comment on table core_private.locks is 'Rows that the functions of Nexus lock for what only one may do at a time; nobody else can.';
comment on column core_private.locks.name is 'tick, namespaces, cron, timezones, or "namespace " and its name, which comes and goes with the namespace.';

create table core_private.queue_grants (
    queue_name  text not null references core.queues on delete cascade,
    role        regrole not null,
    primary key (queue_name, role)
);
comment on table core_private.queue_grants is 'Roles that have rights on the tables of a queue for a grant to operate its namespace. Kept by core_private.grant_queue.';
comment on column core_private.queue_grants.queue_name is 'The queue.';
comment on column core_private.queue_grants.role is 'The role that has the rights.';

create table core.audit_log (
    audit_id     bigint generated always as identity primary key,
    happened_at  timestamptz not null,
    principal    text not null,
    application  text,
    action       text not null,
    namespace    text not null,
    target       text,
    reason       text,
    details      jsonb not null default '{}'
);
create index audit_log_happened_at_idx on core.audit_log (happened_at);
create index audit_log_namespace_idx on core.audit_log (namespace, audit_id desc);
comment on table core.audit_log is 'What people did to dead letters, queues and nodes, whichever tool did it; written by the functions that did it, kept 400 days.';
comment on column core.audit_log.audit_id is 'Counts up; neither the order of calls nor of commits.';
comment on column core.audit_log.happened_at is 'Database clock at the call.';
comment on column core.audit_log.principal is 'Session user, with the role set, if any.';
comment on column core.audit_log.application is 'application_name of the session.';
comment on column core.audit_log.action is 'The name of the function, without its schema.';
comment on column core.audit_log.namespace is 'The namespace it was done in.';
comment on column core.audit_log.target is 'The queue, node or dead letter; NULL where the details say what was picked.';
comment on column core.audit_log.reason is 'What the caller gave as the reason; NULL where the function takes none or got none.';
comment on column core.audit_log.details is 'What else the function tells of it: ids, filters, counts. Its keys are those of the action.';

-- ----------------------------------------------------------------------------------------------------
-- SQLSTATEs of class NX. The docs and Go are checked against this table.
-- ----------------------------------------------------------------------------------------------------

create table core.error_codes (
    code     text primary key check (code ~ '^NX[0-9]{3}$' and right(code, 2) <> '00'),
    meaning  text not null,
    remedy   text not null
);
comment on table core.error_codes is 'SQLSTATEs of class NX: what each means and what to do about it.';
comment on column core.error_codes.code is 'SQLSTATE of the error.';
comment on column core.error_codes.meaning is 'What it says.';
comment on column core.error_codes.remedy is 'What to do about it.';

insert into core.error_codes (code, meaning, remedy) values
    ('NX001', 'namespace name',
        'Use up to 30 of a-z, 0-9, "_" and "-"; the message says what is wrong.'),
    ('NX002', 'event type',
        'Use up to 200 of A-Z, a-z, 0-9 and ". _ : / -".'),
    ('NX003', 'payload that cannot be kept exactly (number beyond 1e308, nesting beyond 1,000, SQL NULL)',
        'Send the offending value as a string, or leave it out.'),
    ('NX004', 'unknown option',
        'The hint lists the options there are.'),
    ('NX005', 'option value',
        'The hint says what the option takes.'),
    ('NX006', 'argument value',
        'The hint says what the argument takes.'),
    ('NX007', 'retry policy',
        'The hint lists the keys of a policy and their ranges.'),
    ('NX008', 'consumer name or pattern',
        'Use an event type, "prefix.*", "prefix:*" or "*".'),
    ('NX009', 'dead-letter filter',
        'Name at least one criterion; see core.replay_dead_letters.'),
    ('NX011', 'cron expression',
        'The message names the field and the position, the hint what to write.'),
    ('NX012', 'time zone',
        'Use an IANA name, such as "Europe/Berlin", or "UTC".'),
    ('NX013', 'setting of a recurring task',
        'The hint says what the setting takes.'),
    ('NX101', 'no such namespace',
        'Create it with core.create_namespace.'),
    ('NX102', 'no such consumer',
        'Look at core.consumers.'),
    ('NX103', 'no such queue',
        'Look at core.queues.'),
    ('NX104', 'no such node',
        'Look at core.node_status.'),
    ('NX105', 'no such dead letter',
        'Look at core.unresolved_dead_letters.'),
    ('NX106', 'no such sweep',
        'Look at core.sweep_status.'),
    ('NX107', 'no such role',
        'Create the role.'),
    ('NX108', 'no such recurring task',
        'Look at core.task_status.'),
    ('NX109', 'no such scheduled event',
        'Look at core.scheduled_events.'),
    ('NX110', 'the tables of a queue are missing',
        'select core.create_namespace(…) with its name, or nexus-node doctor --fix: the queue is made again, empty.'),
    ('NX201', 'namespace exists with other options',
        'Change it with core.alter_namespace.'),
    ('NX202', 'physical queue name already taken',
        'Choose a name that differs in more than "-" and "_".'),
    ('NX203', 'namespace still holds undelivered events',
        'Wait, or drop with p_force.'),
    ('NX204', 'a live node has this id',
        'Give each node an id of its own, or leave the id out.'),
    ('NX205', 'dead letter already resolved',
        'Nothing is left to do.'),
    ('NX206', 'confirmation does not match',
        'Repeat the name in p_confirm.'),
    ('NX207', 'dead letter cannot be replayed (its consumer is gone)',
        'Emit its payload anew, or discard it.'),
    ('NX208', 'recurring task exists with another owner or other settings',
        'Choose another name, or give the owner.'),
    ('NX209', 'scheduled event exists with other content',
        'Use another schedule_id, or cancel or reschedule the one there is.'),
    ('NX210', 'scheduled event is no longer pending',
        'Schedule a new one; core.scheduled_events says what became of this one.'),
    ('NX211', 'commit by a handler',
        'Return from the handler; the node commits. What must be committed on its own needs a connection of its own.'),
    ('NX301', 'lease lost',
        'Roll back; the delivery runs elsewhere.'),
    ('NX302', 'node superseded',
        'Restart the node; another runs under its id.'),
    ('NX401', 'the caller''s role lacks the duty',
        'Grant the role the hint names.'),
    ('NX402', 'the namespace is restricted and not granted to the caller',
        'core.grant_namespace.'),
    ('NX501', 'schema is newer than this binary',
        'Update the program, not the schema.'),
    ('NX502', 'schema is missing or older than this binary',
        'nexus-node migrate up.'),
    ('NX503', 'an extension is missing or too old',
        'Install the extension the message names; nexus-node doctor prints the line.'),
    ('NX504', 'the installer lacks rights',
        'Run the grants the message lists.'),
    ('NX505', 'an applied migration''s file was changed',
        'Restore the file; write a new migration instead.'),
    ('NX506', 'something was built on a function or view that the new version drops',
        'Drop or change what the detail names, then nexus-node migrate up.'),
    ('NX507', 'the installer would run what somebody else owns or may change',
        'Run the lines the hint lists, or name the role with --trust.'),
    ('NX508', 'the schema is of before version 0.1.0, which nothing upgrades',
        'Take out what you want to keep, drop the schemas and install anew; the hint has the lines.'),
    ('NX601', 'payload too large',
        'Store the large part elsewhere, or raise max_payload_bytes.'),
    ('NX602', 'too many events in a batch',
        'Split the batch.'),
    ('NX603', 'batch too large',
        'Split the batch.'),
    ('NX604', 'headers, key or tags too large',
        'Shorten it, or put it into the payload.');

-- ----------------------------------------------------------------------------------------------------
-- Rows that are there from the start, and row security.
-- ----------------------------------------------------------------------------------------------------

insert into core_private.locks (name) values ('tick'), ('namespaces'), ('cron'), ('timezones');
insert into core_private.scheduler default values;
insert into core_private.cron_slots (n) select g from generate_series(1, 20) g;
insert into core_private.fire_floor default values;

-- Without a policy nobody but the owner sees a row; core_private.secure_rows(), which needs functions, adds the
-- policies.
alter table core.namespaces enable row level security;
alter table core.namespace_grants enable row level security;
alter table core.consumers enable row level security;
alter table core.queues enable row level security;
alter table core.event_log enable row level security;
alter table core.event_keys enable row level security;
alter table core.delayed enable row level security;
alter table core.nodes enable row level security;
alter table core.parked enable row level security;
alter table core.dead_letters enable row level security;
alter table core.delivery_errors enable row level security;
alter table core.scheduled_tasks enable row level security;
alter table core.task_slots enable row level security;
alter table core.task_runs enable row level security;
alter table core.scheduled_events enable row level security;
alter table core.audit_log enable row level security;
