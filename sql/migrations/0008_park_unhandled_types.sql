-- Types that nobody handles, delays that are long, and what a node handles for which consumer.

create table core.parked (
    queue         text not null references core.queues on delete cascade,
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
    primary key (queue, event_type, msg_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index parked_lived_idx on core.parked (queue, lived);
create index parked_event_id_idx on core.parked (event_id);
comment on table core.parked is 'Messages of types that no live node of their consumer handles, taken off the queue as they were: msg_id, read_ct, headers and enqueued_at stay. They go back as soon as a node handles the type.';
comment on column core.parked.queue is 'The physical queue it was taken from and goes back to.';
comment on column core.parked.event_id is 'That of the envelope, for look-ups; NULL where the message names none.';
comment on column core.parked.lived is 'How long nodes of the consumer had lived in all when it was parked. It becomes a dead letter when they have lived unhandled_after longer.';
alter table core.parked enable row level security;

create table core_private.parking (
    queue_name  text primary key references core.queues on delete cascade,
    lived       interval not null default '0',
    seen_at     timestamptz not null,
    looked_to   bigint not null default 0,
    rest_until  timestamptz not null default '-infinity',
    removed     bigint not null default 0
);
comment on table core_private.parking is 'One row a queue whose consumer has had a node: where the search for unhandled types stands. Whoever writes to core.parked locks the row of the queue.';
comment on column core_private.parking.lived is 'How long some node of the consumer has lived, in all. An outage of all nodes does not count.';
comment on column core_private.parking.seen_at is 'Up to when lived has been counted.';
comment on column core_private.parking.looked_to is 'The message up to which the queue has been searched; 0: begin anew.';
comment on column core_private.parking.rest_until is 'No search before: one that took long is followed by a rest.';
comment on column core_private.parking.removed is 'Deliveries to the consumer default that nobody handled and that were removed, since another consumer had the event.';

-- A retry that is due much later waits apart as well and comes back as it was.
alter table core.delayed
    add column msg_id       bigint,
    add column read_ct      integer,
    add column enqueued_at  timestamptz,
    add column last_read_at timestamptz,
    add check (num_nonnulls(msg_id, read_ct, enqueued_at) in (0, 3)),
    set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
drop index core.delayed_queue_name_idx;
create index delayed_queue_name_idx on core.delayed (queue_name, due_at);
comment on table core.delayed is 'Deliveries that are not due yet: emitted with a delay, or taken off the queue because their next attempt is far away. They wait here so that the head of the queue stays short.';
comment on column core.delayed.msg_id is 'The message it was and will be; NULL for what has not been on the queue yet.';

-- Types are handled for a consumer; other kinds know none.
alter table core_private.node_capabilities add column consumer text not null default '';
update core_private.node_capabilities set consumer = 'default' where kind = 'event_type';
alter table core_private.node_capabilities drop constraint node_capabilities_pkey;
alter table core_private.node_capabilities add primary key (node_id, incarnation, kind, consumer, key);
comment on column core_private.node_capabilities.consumer is 'For kind event_type: the consumer that handles it. Empty for other kinds.';

-- Their arguments change.
drop function if exists core.register_node(text, text, boolean, text[], jsonb);
drop function if exists core_private.is_handled(text, text);
