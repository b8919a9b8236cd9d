-- Ordered messages. A lane is a sequence of messages that are handled one after the other. Nothing here has a
-- sequencer: a lane is read by snapshots, and its numbers come into being as it is read. See design.md, Lanes.

create table core_private.outbox_queues (
    consumer_id     integer primary key references core.consumers on delete cascade,
    strict          boolean not null,
    profile         text not null check (profile in ('default', 'low_latency', 'high_throughput', 'relaxed')),
    max_body_bytes  integer not null check (max_body_bytes between 1 and 104857600)
);
comment on table core_private.outbox_queues is 'What a consumer of kind outbox has beyond the others.';
comment on column core_private.outbox_queues.consumer_id is 'The consumer.';
comment on column core_private.outbox_queues.strict is 'Whether who enqueues locks the lane, so that messages are in the order in which transactions commit.';
comment on column core_private.outbox_queues.profile is 'How processors pace themselves: default, low_latency, high_throughput, relaxed.';
comment on column core_private.outbox_queues.max_body_bytes is 'The largest body that it takes.';

create table core_private.consumer_lanes (
    lane_id      integer generated always as identity primary key,
    consumer_id  integer not null references core.consumers on delete cascade,
    generation   integer not null,
    lane         integer not null check (lane between 0 and 4095),
    unique (consumer_id, generation, lane)
);
comment on table core_private.consumer_lanes is 'Which lanes there are, and whose. Never changed.';
comment on column core_private.consumer_lanes.lane_id is 'Its number in this database.';
comment on column core_private.consumer_lanes.consumer_id is 'The consumer that it belongs to.';
comment on column core_private.consumer_lanes.generation is 'That of the consumer when its lanes were cut.';
comment on column core_private.consumer_lanes.lane is 'Its number among the lanes of the consumer, from 0 on.';

-- A change writes a new version and not the old one anew: the newest is found at the end of the index at once, also
-- when a snapshot that is held keeps all the others.
create table core_private.lanes (
    lane_id        integer not null references core_private.consumer_lanes on delete cascade,
    ver            bigint not null,
    cluster        bigint not null,
    seq            bigint not null default 0,
    done           pg_snapshot not null,
    done_floor     bigint not null,
    done_next      xid8 not null,
    cur            pg_snapshot,
    cur_floor      bigint,
    cur_next       xid8,
    cur_top        bigint,
    pos            bigint not null default 0,
    handed         integer not null default 0,
    attempts       integer not null default 0,
    last_error     text,
    safe_until     bigint not null default 0,
    suspect_until  bigint not null default 0,
    next_at        timestamptz not null default '-infinity',
    state          text not null default 'active' check (state in ('active', 'paused', 'halted')),
    blocked_since  timestamptz,
    token          uuid,
    locked_by      text,
    locked_until   timestamptz,
    primary key (lane_id, ver),
    check ((token is null) = (locked_until is null)),
    check ((cur is null) = (cur_top is null))
) with (fillfactor = 50);
comment on table core_private.lanes is 'How far each lane is. One row a lane, whose ver grows with each change.';
comment on column core_private.lanes.lane_id is 'The lane.';
comment on column core_private.lanes.ver is 'Counts its changes. The greatest counts.';
comment on column core_private.lanes.cluster is 'The server whose transaction ids the snapshots are of.';
comment on column core_private.lanes.seq is 'How many messages have ended. The next one has the next number.';
comment on column core_private.lanes.done is 'What this snapshot sees has ended.';
comment on column core_private.lanes.done_floor is 'The last id that was drawn before the transaction began that took done.';
comment on column core_private.lanes.done_next is 'That transaction: all that had drawn an id up to done_floor are before it.';
comment on column core_private.lanes.cur is 'What this snapshot sees and done does not is being handled, in the order of ids; NULL: nothing is.';
comment on column core_private.lanes.cur_floor is 'As done_floor.';
comment on column core_private.lanes.cur_next is 'As done_next.';
comment on column core_private.lanes.cur_top is 'The last id that had been drawn when cur had been taken: it sees none beyond.';
comment on column core_private.lanes.pos is 'The id of cur up to which messages have ended.';
comment on column core_private.lanes.handed is 'How many messages behind seq whoever holds the lane was given.';
comment on column core_private.lanes.attempts is 'Of the next message: how often it has failed.';
comment on column core_private.lanes.last_error is 'Of the next message, or of the messages up to suspect_until.';
comment on column core_private.lanes.safe_until is 'Up to this number messages went well before one behind them failed, so that they are handled without it.';
comment on column core_private.lanes.suspect_until is 'One of the messages up to this number failed: they are halved until it is alone.';
comment on column core_private.lanes.next_at is 'Not handled before.';
comment on column core_private.lanes.state is 'active; paused by somebody; halted: the next message is given up by nobody but an operator.';
comment on column core_private.lanes.blocked_since is 'When the next message first failed, or the lane was paused; NULL: it goes on.';
comment on column core_private.lanes.token is 'What proves that the lane is held; NULL: nobody holds it.';
comment on column core_private.lanes.locked_by is 'The node that holds it, or held it last.';
comment on column core_private.lanes.locked_until is 'When that lease ends.';

create sequence core_private.lane_message_id_seq as bigint;

-- Appended to, and dropped by partitions of ids. What no partition is for falls into the default one.
create table core_private.lane_messages (
    lane_id     integer not null,
    id          bigint not null,
    xid         xid8 not null,
    key         text,
    body        bytea not null,
    body_type   text not null,
    created_at  timestamptz not null,
    primary key (lane_id, id)
) partition by range (id);
create index lane_messages_lane_xid_idx on core_private.lane_messages (lane_id, xid, id);
create table core_private.lane_messages_default partition of core_private.lane_messages default;
comment on table core_private.lane_messages is 'The messages of all lanes. Never changed but by core.lanes_rebase.';
comment on table core_private.lane_messages_default is 'Messages of core_private.lane_messages that no partition was made for in time.';
comment on column core_private.lane_messages.lane_id is 'Its lane.';
comment on column core_private.lane_messages.id is 'In the order in which messages were enqueued, as far as one transaction knows of the other.';
comment on column core_private.lane_messages.xid is 'The transaction that enqueued it.';
comment on column core_private.lane_messages.key is 'What picked the lane; NULL: its id did.';
comment on column core_private.lane_messages.body is 'What was enqueued.';
comment on column core_private.lane_messages.body_type is 'What the body is, in the words of whoever enqueued it.';
comment on column core_private.lane_messages.created_at is 'Database clock when it was enqueued.';

create table core_private.lane_partitions (
    relation  text primary key,
    upper     bigint not null,
    xid       xid8
);
comment on table core_private.lane_partitions is 'Partitions of core_private.lane_messages.';
comment on column core_private.lane_partitions.relation is 'Its name in core_private.';
comment on column core_private.lane_partitions.upper is 'The first id that is not in it.';
comment on column core_private.lane_partitions.xid is 'A transaction that began when all its ids had been drawn; NULL before.';

-- Whose a lane is, and by which rules its messages are retried.
create type core_private.lane_owner as (
    namespace     text,
    queue_name    text,
    consumer_id   integer,
    lane          integer,
    active        boolean,
    max_attempts  integer,
    retry         jsonb,
    halts         boolean
);
comment on type core_private.lane_owner is 'Whose a lane is, and by which rules its messages are retried.';

insert into core_private.locks (name) values ('lanes');

insert into core.error_codes (code, meaning, remedy) values
    ('NX018', 'not an outbox queue, lane, or message for one', 'The field says which; a queue has 1 to 4,096 lanes, counted from 0, and takes bodies up to its max_body_bytes with a type of 1 to 1,024 bytes.'),
    ('NX115', 'no such outbox queue or lane', 'Queues are listed in core.outbox_status, and made by core.outbox_register_queue.'),
    ('NX221', 'the outbox queue exists with other settings', 'Leave out what you have no opinion about, or register another queue.'),
    ('NX222', 'a processor holds the lane', 'Pause the lane, and wait for the end of its lease.'),
    ('NX224', 'something was written before in the transaction', 'Call it in a transaction of its own: what it reads rests on being the first.'),
    ('NX509', 'the lanes are of another server', 'After a restore from a dump, before processors run: select core.lanes_rebase();');
