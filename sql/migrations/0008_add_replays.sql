-- What is in the log is delivered to a consumer again, on request and a step a call.

create table core_private.replays (
    namespace    text not null references core.namespaces on delete cascade,
    replay_id    text not null,
    consumer_id  integer not null references core.consumers on delete cascade,
    filter       jsonb not null,
    most         bigint check (most > 0),
    rate         text,
    bound        bigint not null,
    position     bigint not null default 0,
    looked       bigint not null default 0,
    delivered    bigint not null default 0,
    paced_to     timestamptz,
    created_by   text not null,
    created_at   timestamptz not null,
    finished_at  timestamptz,
    primary key (namespace, replay_id)
);
create index replays_consumer_idx on core_private.replays (consumer_id);
create index replays_finished_idx on core_private.replays (finished_at);
comment on table core_private.replays is 'One row for each replay of events to a consumer, kept 30 days after its end. Read them through core.replays.';
comment on column core_private.replays.namespace is 'The namespace of the events and of the consumer.';
comment on column core_private.replays.replay_id is 'Its name, unique in the namespace.';
comment on column core_private.replays.consumer_id is 'Who gets the events.';
comment on column core_private.replays.filter is 'Which events, as they were asked for.';
comment on column core_private.replays.most is 'How many at most; NULL: all.';
comment on column core_private.replays.rate is 'Most deliveries in a time, such as 100/min; NULL: no limit.';
comment on column core_private.replays.bound is 'event_id beyond which nothing is replayed: the last one when it began.';
comment on column core_private.replays.position is 'event_id up to which the log has been looked at.';
comment on column core_private.replays.looked is 'Rows of the log looked at, those of other namespaces too.';
comment on column core_private.replays.delivered is 'How many it has delivered.';
comment on column core_private.replays.paced_to is 'Until then its rate is used up; NULL: it has no rate.';
comment on column core_private.replays.created_by is 'Who began it: the session user, with the role set, if any.';
comment on column core_private.replays.created_at is 'Database clock when it began.';
comment on column core_private.replays.finished_at is 'Database clock when it had come to its end; NULL before.';

insert into core.error_codes (code, meaning, remedy) values
    ('NX216', 'replay exists with another consumer, filter or limit',
        'Give the same ones to go on with it, or another replay_id.');
