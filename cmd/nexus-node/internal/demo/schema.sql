-- The business of the demo, and what its login may do there.
create schema demo;

create table demo.received (
    event_uid   uuid primary key,
    event_type  text not null,
    given_up    boolean not null default false,
    received_at timestamptz not null default clock_timestamp()
);
comment on table demo.received is 'One row a webhook, written in the transaction that emits it.';
comment on column demo.received.given_up is 'Set by hand, in the transaction that discards its dead letter.';

create table demo.handled (
    event_uid  uuid not null,
    node       text not null,
    attempt    integer not null,
    handled_at timestamptz not null default clock_timestamp()
);
create index on demo.handled (event_uid);
comment on table demo.handled is 'One row an effect. No unique key: a double effect must show.';

create table demo.by_type (event_type text primary key, events bigint not null);
create table demo.by_repository (repository text primary key, events bigint not null);
create table demo.by_sender (sender text primary key, events bigint not null);

create table demo.reports (
    event_uid  uuid not null,
    node       text not null,
    attempt    integer not null,
    handled_at timestamptz not null default clock_timestamp()
);
comment on table demo.reports is 'One row an effect of a task or a one-shot. No unique key here either.';

create table demo.reminders (
    event_uid  uuid primary key,
    about      text not null,
    cancelled  boolean not null default false
);
comment on table demo.reminders is 'One row a one-shot, written in the transaction that schedules it and marked in the one that cancels it.';

create table demo.audited (
    event_uid  uuid not null,
    node       text not null,
    attempt    integer not null,
    handled_at timestamptz not null default clock_timestamp()
);
comment on table demo.audited is 'One row an effect of the consumer that was added late. No unique key.';

create table demo.booked (
    number    integer not null,
    login     text not null,
    booked_at timestamptz not null default clock_timestamp()
);
comment on table demo.booked is 'One row an effect of demo.on_invoice. No unique key.';

create table demo.moves (
    move_id  bigint generated always as identity,
    account  integer not null,
    n        integer not null,
    cents    integer not null
);
comment on table demo.moves is 'One row an effect of a movement, in the order in which they were made. No unique key.';

create table demo.order_steps (
    step_id   bigint generated always as identity,
    order_id  integer not null,
    step      text not null,
    node      text not null
);
comment on table demo.order_steps is 'One row an effect of a step of an order, or of undoing one. No unique key.';

create table demo.parcels (
    parcel_id integer primary key,
    status    text not null,
    weighed   boolean not null default false
);
comment on table demo.parcels is 'Watched. What writes it knows nothing of Nexus.';

create table demo.told (
    parcel_id integer not null,
    node      text not null
);
comment on table demo.told is 'One row an effect of a change of a parcel. No unique key.';

create table demo.switches (name text primary key, on_since timestamptz not null default clock_timestamp());
comment on table demo.switches is 'Row "fixed": the handler knows what to do with a push that names no repository; row "comma": it reads amounts with one.';

grant nexus_producer, nexus_consumer to demo_app;
grant usage on schema demo to demo_app;
grant insert on demo.received, demo.handled, demo.reports, demo.audited, demo.booked, demo.moves, demo.order_steps, demo.told to demo_app;
grant select, insert, update on demo.reminders to demo_app;
grant select, insert, update on demo.by_type, demo.by_repository, demo.by_sender to demo_app;
grant select, update on demo.parcels to demo_app;
grant select on demo.switches to demo_app;

-- A handler in SQL. It runs as its owner, who lets Nexus call it; see docs/guides/sql-handlers.md.
create function demo.on_invoice(p_event jsonb) returns void
language sql
security definer
set search_path = demo, pg_temp
as $$ insert into booked (number, login) values ((p_event #>> '{payload,number}')::integer, session_user) $$;
alter function demo.on_invoice(jsonb) owner to demo_app;
revoke execute on function demo.on_invoice(jsonb) from public;
grant execute on function demo.on_invoice(jsonb) to nexus_guard;
grant usage on schema demo to nexus_guard;
