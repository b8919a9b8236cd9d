-- One-shot events: what is to be emitted, and, once it is, the proof of that.

create table core.scheduled_events (
    schedule_id        uuid primary key,
    namespace          text not null references core.namespaces on delete cascade,
    fire_at            timestamptz not null,
    due_at             timestamptz not null,
    status             text not null default 'pending' check (status in ('pending', 'appended', 'cancelled', 'failed')),
    type               text not null,
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
    check ((status = 'appended') = (event_id is not null)),
    check ((status in ('appended', 'cancelled')) = (finished_at is not null))
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
create index scheduled_events_due_at_idx on core.scheduled_events (due_at) where status = 'pending';
create index scheduled_events_namespace_idx on core.scheduled_events (namespace, status, due_at);
create index scheduled_events_finished_at_idx on core.scheduled_events (finished_at) where finished_at is not null;
alter table core.scheduled_events enable row level security;

comment on table core.scheduled_events is 'One-shot events. A row that is no longer pending is a tombstone, which is kept 30 days: it says what became of the event.';
comment on column core.scheduled_events.schedule_id is 'The event_uid of the event to come.';
comment on column core.scheduled_events.fire_at is 'When the caller wants it.';
comment on column core.scheduled_events.due_at is 'When it is tried: fire_at, moved by retries, and never before the row was written.';
comment on column core.scheduled_events.metadata is 'Options of the event: headers, ordering_key, producer, correlation_id, causation_uid, broadcast.';
comment on column core.scheduled_events.version is 'Begins at 1; each reschedule adds one.';
comment on column core.scheduled_events.message_timestamp is 'authored_at of the event: what the caller said, else when it was scheduled.';
comment on column core.scheduled_events.content_hash is 'Of what schedule_event was given, to tell a repeated call from a conflicting one, also after a reschedule.';
comment on column core.scheduled_events.attempts is 'Failed attempts to emit it.';
comment on column core.scheduled_events.event_id is 'In core.event_log, once it is there.';
comment on column core.scheduled_events.principal is 'Who scheduled it; recorded with the event.';
comment on column core.scheduled_events.finished_at is 'When it was appended or cancelled.';
comment on column core.scheduled_events.finished_by is 'Who cancelled it.';

-- While an old snapshot is held, what has fired stays in the index, and each claim would read all of it again.
create table core_private.fire_floor (
    singleton  boolean primary key default true check (singleton),
    floor      timestamptz not null default '-infinity',
    swept_at   timestamptz not null default '-infinity'
);
insert into core_private.fire_floor default values;
comment on table core_private.fire_floor is 'One row: where claims of due scheduled events begin to look, and when one last looked at all of them.';

insert into core.error_codes (code, meaning, mend) values
    ('NX109', 'no such scheduled event', 'Look at core.scheduled_events.'),
    ('NX209', 'scheduled event exists with other content', 'Use another schedule_id, or cancel or reschedule the one there is.'),
    ('NX210', 'scheduled event is no longer pending', 'Schedule a new one; core.scheduled_events says what became of this one.');
