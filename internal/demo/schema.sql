-- The business of the demo. No unique key on demo.handled: a double effect must show.
create schema demo;
create table demo.received (
    event_uid   uuid primary key,
    event_type  text not null,
    given_up    boolean not null default false,
    received_at timestamptz not null default clock_timestamp()
);
create table demo.handled (
    event_uid  uuid not null,
    node       text not null,
    attempt    integer not null,
    handled_at timestamptz not null default clock_timestamp()
);
create index on demo.handled (event_uid);
create table demo.by_type (event_type text primary key, events bigint not null);
create table demo.by_repository (repository text primary key, events bigint not null);
create table demo.by_sender (sender text primary key, events bigint not null);
create table demo.switches (name text primary key, on_since timestamptz not null default clock_timestamp());
