-- A new consumer takes what is in the log from before it, and so do other patterns, on request.

alter table core.event_log add column deliver_at timestamptz;
comment on column core.event_log.deliver_at is 'When it was to be delivered, where the emitter asked for a later time; NULL: at once.';

create table core_private.backfills (
    backfill_id   bigint generated always as identity primary key,
    consumer_id   integer not null references core.consumers on delete cascade,
    namespace     text not null,
    generation    bigint not null,
    patterns      text[] not null,
    narrowed      text[],
    from_time     timestamptz not null,
    state         text not null default 'waiting' check (state in ('waiting', 'running', 'done')),
    awaited       text[],
    position      bigint not null default 0,
    bound         bigint,
    looked        bigint not null default 0,
    delivered     bigint not null default 0,
    created_at    timestamptz not null,
    finished_at   timestamptz,
    check (state = 'waiting' or bound is not null)
);
create index backfills_consumer_idx on core_private.backfills (consumer_id);
create index backfills_open_idx on core_private.backfills (backfill_id) where state <> 'done';
comment on table core_private.backfills is 'One row for each time a consumer was to get what is in the log: deliveries of all rows of an older generation that match and that it had not got. Read them through core.consumer_status.';
comment on column core_private.backfills.backfill_id is 'Counts up.';
comment on column core_private.backfills.consumer_id is 'The consumer that gets the events.';
comment on column core_private.backfills.namespace is 'The namespace of the consumer.';
comment on column core_private.backfills.generation is 'That of the namespace which its request began: older rows of the log are looked at.';
comment on column core_private.backfills.patterns is 'What it takes.';
comment on column core_private.backfills.narrowed is 'Of that only what matches one of these, once drop_unmatched was asked for; NULL: all.';
comment on column core_private.backfills.from_time is 'Events from then on; -infinity: all there are.';
comment on column core_private.backfills.state is 'waiting: for transactions that may still emit without knowing of it; running; done.';
comment on column core_private.backfills.awaited is 'Transactions that were alive when it was first looked at; NULL before.';
comment on column core_private.backfills.position is 'event_id up to which the log has been looked at.';
comment on column core_private.backfills.bound is 'event_id beyond which there is nothing for it; NULL while it waits.';
comment on column core_private.backfills.looked is 'Rows of the log looked at, those of other namespaces too.';
comment on column core_private.backfills.delivered is 'How many it delivered.';
comment on column core_private.backfills.created_at is 'Database clock when it was asked for.';
comment on column core_private.backfills.finished_at is 'Database clock when it had come to its end.';

-- They return the generation that they have read with the consumers.
drop function if exists core_private.deliver_to_others(text, text, jsonb, jsonb, timestamptz, timestamptz);
drop function if exists core_private.delivery_plan(text, text[], boolean, boolean, boolean);

-- A column of a whole unique index cannot change while somebody holds the row for a foreign key, as who emits with a
-- delay does.
alter table core.queues drop constraint queues_consumer_id_key;
create unique index queues_consumer_idx on core.queues (consumer_id) where consumer_id is not null;
