-- A broadcast is stored once and read by each node of its namespace on its own: a cursor a node says what it has seen.

alter table core.namespaces
    add column keep_broadcasts interval not null default interval '1 day' check (keep_broadcasts > interval '0');
comment on column core.namespaces.keep_broadcasts is 'How long a broadcast is kept for nodes that have not read it.';

create table core.broadcasts (
    broadcast_id  bigint generated always as identity primary key,
    namespace     text not null,
    cluster       bigint not null,
    xid           xid8 not null,
    event_id      bigint not null,
    event_uid     uuid not null,
    event_type    text not null,
    emitted_at    timestamptz not null,
    message       jsonb not null,
    headers       jsonb
);
create index broadcasts_xid_idx on core.broadcasts (namespace, xid, broadcast_id);
create index broadcasts_emitted_at_idx on core.broadcasts (namespace, emitted_at);
comment on table core.broadcasts is 'One row a broadcast, kept for keep_broadcasts of its namespace. Who has read it: core.broadcast_cursors.';
comment on column core.broadcasts.broadcast_id is 'Counts up; neither the order of emits nor that of commits.';
comment on column core.broadcasts.namespace is 'The namespace of the event.';
comment on column core.broadcasts.cluster is 'System identifier of the server that it was emitted on: its xid means nothing on another one.';
comment on column core.broadcasts.xid is 'The transaction that emitted it.';
comment on column core.broadcasts.event_id is 'The event in the log.';
comment on column core.broadcasts.event_uid is 'The identity of the event.';
comment on column core.broadcasts.event_type is 'Its type.';
comment on column core.broadcasts.emitted_at is 'Database clock when it was emitted.';
comment on column core.broadcasts.message is 'The envelope.';
comment on column core.broadcasts.headers is 'Headers of the emitter.';
alter table core.broadcasts enable row level security;

create table core_private.broadcast_cursors (
    node_id       text primary key references core.nodes on delete cascade,
    namespace     text not null,
    patterns      text[] not null,
    cluster       bigint not null,
    seen          pg_snapshot not null,
    target        pg_snapshot,
    at_xid        xid8 not null default '0',
    at_id         bigint not null default 0,
    turn          bigint not null default 0,
    holder        uuid,
    taken_xid     xid8,
    taken_id      bigint,
    taken_at      timestamptz,
    began_at      timestamptz not null,
    moved_at      timestamptz,
    last_error    text,
    last_error_at timestamptz,
    missed        bigint not null default 0,
    missed_at     timestamptz,
    reset_at      timestamptz,
    reset_reason  text
);
create index broadcast_cursors_namespace_idx on core_private.broadcast_cursors (namespace);
comment on table core_private.broadcast_cursors is 'What each node has read of the broadcasts of its namespace. Read them through core.broadcast_cursors.';
comment on column core_private.broadcast_cursors.node_id is 'The node. The cursor goes with it.';
comment on column core_private.broadcast_cursors.namespace is 'Its namespace.';
comment on column core_private.broadcast_cursors.patterns is 'Types of events that it handles.';
comment on column core_private.broadcast_cursors.cluster is 'System identifier of the server that the snapshots are of.';
comment on column core_private.broadcast_cursors.seen is 'What is visible in it is done.';
comment on column core_private.broadcast_cursors.target is 'What is visible in it, and not in seen, is being read; NULL: nothing is.';
comment on column core_private.broadcast_cursors.at_xid is 'With at_id: how far that has come, in the order of (xid, broadcast_id).';
comment on column core_private.broadcast_cursors.at_id is 'See at_xid.';
comment on column core_private.broadcast_cursors.turn is 'Counts what was given to the node: the fence of a delivery.';
comment on column core_private.broadcast_cursors.holder is 'The life of a process that reads.';
comment on column core_private.broadcast_cursors.taken_xid is 'The xid of what it has in hand; NULL where that comes from core_private.broadcast_deliveries.';
comment on column core_private.broadcast_cursors.taken_id is 'The broadcast that it has in hand; NULL: none.';
comment on column core_private.broadcast_cursors.taken_at is 'Since when.';
comment on column core_private.broadcast_cursors.began_at is 'Database clock when the node registered first.';
comment on column core_private.broadcast_cursors.moved_at is 'When a broadcast was last settled.';
comment on column core_private.broadcast_cursors.last_error is 'Of the last attempt that failed.';
comment on column core_private.broadcast_cursors.last_error_at is 'When that was.';
comment on column core_private.broadcast_cursors.missed is 'Broadcasts that were removed by their age before the node had read them.';
comment on column core_private.broadcast_cursors.missed_at is 'When the last of them was.';
comment on column core_private.broadcast_cursors.reset_at is 'When the cursor was last set anew, since the database had come to another server.';
comment on column core_private.broadcast_cursors.reset_reason is 'What was found then, and done.';

create table core_private.broadcast_deliveries (
    node_id       text not null references core_private.broadcast_cursors on delete cascade,
    broadcast_id  bigint not null,
    namespace     text not null,
    event_type    text not null,
    message       jsonb not null,
    headers       jsonb,
    due_at        timestamptz not null,
    failures      integer not null default 0,
    deferrals     integer not null default 0,
    first_at      timestamptz,
    replay_of     bigint,
    replay_count  integer not null default 0,
    primary key (node_id, broadcast_id)
);
create index broadcast_deliveries_due_idx on core_private.broadcast_deliveries (node_id, due_at);
comment on table core_private.broadcast_deliveries is 'Broadcasts that a node gets apart from its cursor: after a failure, a release, a replay, or from before a move to another server.';
comment on column core_private.broadcast_deliveries.node_id is 'The node.';
comment on column core_private.broadcast_deliveries.broadcast_id is 'The broadcast.';
comment on column core_private.broadcast_deliveries.namespace is 'Its namespace.';
comment on column core_private.broadcast_deliveries.event_type is 'Its type.';
comment on column core_private.broadcast_deliveries.message is 'Its envelope: the broadcast may be removed meanwhile.';
comment on column core_private.broadcast_deliveries.headers is 'Its headers.';
comment on column core_private.broadcast_deliveries.due_at is 'When it is given to the node.';
comment on column core_private.broadcast_deliveries.failures is 'Attempts that failed.';
comment on column core_private.broadcast_deliveries.deferrals is 'Attempts that were given back.';
comment on column core_private.broadcast_deliveries.first_at is 'When the first attempt began; NULL: there was none.';
comment on column core_private.broadcast_deliveries.replay_of is 'The dead letter that it was; NULL: none.';
comment on column core_private.broadcast_deliveries.replay_count is 'How often it was replayed.';

alter table core.dead_letters drop constraint dead_letters_source_kind_check;
alter table core.dead_letters add constraint dead_letters_source_kind_check
    check (source_kind in ('delivery', 'broadcast', 'lane', 'task', 'trigger', 'workflow_step', 'workflow_compensation'));
