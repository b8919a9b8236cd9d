-- What the program's own side knows. No key is unique: none may hide a double effect.
create schema chaos;
create sequence chaos.n;

create table chaos.emitted (
    uid        uuid not null,
    n          bigint not null,
    ns         text not null,
    type       text not null,
    do_what    text not null,
    times      bigint not null,
    want       text not null,
    how        text not null,
    key        text,
    duplicate  boolean not null default false,
    due_at     timestamptz,
    at         timestamptz not null default clock_timestamp()
);
comment on table chaos.emitted is 'Written in the emitting transaction: what was committed, and what is to come of it.';
create index on chaos.emitted (uid);

create table chaos.oneshots (
    id       uuid not null,
    ns       text not null,
    fire_at  timestamptz not null,
    outcome  text
);
comment on table chaos.oneshots is 'Scheduled events, written with them; outcome is what a cancel answered, written with it.';

create table chaos.effects (
    uid        uuid not null,
    ns         text not null,
    type       text not null,
    mode       text not null,
    msg_id     bigint not null,
    attempt    int not null,
    deferrals  int not null,
    pid        int not null,
    at         timestamptz not null default clock_timestamp()
);
comment on table chaos.effects is 'What handlers did, written in their transactions, where they have one.';
create index on chaos.effects (uid);

create table chaos.mended (ns text not null);
comment on table chaos.mended is 'Namespaces whose stuck events now succeed.';

create table chaos.journal (
    at         timestamptz not null,
    kind       text not null,
    uid        uuid not null,
    msg_id     bigint not null,
    attempt    int not null,
    deferrals  int not null,
    mode       text not null,
    pid        int not null,
    verdict    text not null
);
comment on table chaos.journal is 'From the files of the processes: begin and end of each call of a handler, with its verdict.';
create index on chaos.journal (uid);
create index on chaos.journal (pid);

create table chaos.deaths (
    pid  int not null,
    ns   text not null,
    why  text not null,
    at   timestamptz not null
);
comment on table chaos.deaths is 'How processes ended: killed (by the plan), self (by an event), stopped, exited (by themselves, with an error).';

create table chaos.troubles (
    what       text not null,
    pid        int,
    from_time  timestamptz not null,
    to_time    timestamptz not null
);
comment on table chaos.troubles is 'When leases could not be renewed: processes that were frozen, servers that were away, connections that stood still, tables that were locked.';

grant usage on schema chaos to chaos_app;
grant select, insert, update on all tables in schema chaos to chaos_app;
grant usage on all sequences in schema chaos to chaos_app;
