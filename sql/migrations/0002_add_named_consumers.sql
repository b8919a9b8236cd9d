-- Consumers that people create, alter and drop while events come in. Emit reads the generation of a namespace together
-- with its consumers and writes it into the log, so that it can be told later which consumers an event went to.

alter table core.namespaces add column consumer_generation bigint not null default 0;
comment on column core.namespaces.consumer_generation is 'Raised by each new named consumer and each change of patterns.';

-- Without a default: emit writes most rows with none of it.
alter table core.event_log add column consumer_generation bigint;
comment on column core.event_log.consumer_generation is 'That of the namespace as emit read it with the consumers that it delivered to; NULL before there was a named one.';

alter table core.consumers
    add column created_generation bigint not null default 0,
    add column rate text;
comment on column core.consumers.created_generation is 'Generation of the namespace that its creation began. Events of an older one did not find it.';
comment on column core.consumers.rate is 'Most deliveries in a time, over all nodes, such as 100/min; NULL: no limit.';
comment on column core.consumers.created_at is 'Database clock when it was created.';

create table core_private.consumer_patterns (
    consumer_id  integer not null references core.consumers on delete cascade,
    generation   bigint not null,
    patterns     text[] not null,
    primary key (consumer_id, generation)
);
comment on table core_private.consumer_patterns is 'Which patterns a named consumer had from which generation on: what was emitted in it went by them.';
comment on column core_private.consumer_patterns.consumer_id is 'The consumer.';
comment on column core_private.consumer_patterns.generation is 'Generation of the namespace from which on they held.';
comment on column core_private.consumer_patterns.patterns is 'The patterns.';

-- Transactions that found the consumer may still deliver to its queue, so the table goes when they have ended.
alter table core.queues
    add column dropped_at timestamptz,
    add column dropped_xact xid8,
    add constraint queues_dropped_check check (num_nonnulls(dropped_at, dropped_xact) in (0, 2) and (dropped_at is null or consumer_id is null));
comment on column core.queues.dropped_at is 'Database clock when its consumer was dropped; a sweep drops its table once no transaction of before is left. NULL: in use.';
comment on column core.queues.dropped_xact is 'The transaction that dropped its consumer.';

insert into core.error_codes (code, meaning, remedy) values
    ('NX212', 'consumer exists with other patterns or options',
        'Change it with core.alter_consumer.'),
    ('NX213', 'consumer still holds undelivered events',
        'Wait, or drop with p_force.');
