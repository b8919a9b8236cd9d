-- Upkeep: what core.tick() runs, and how it went.

create table core_private.sweeps (
    name             text primary key,
    function         text not null,
    every            interval not null check (every > interval '0'),
    driven_by        text not null default 'tick' check (driven_by in ('tick', 'job')),
    position         integer not null,
    enabled          boolean not null default true,
    last_started_at  timestamptz,
    last_ok_at       timestamptz,
    last_ms          double precision,
    last_result      jsonb,
    last_error       text,
    failures         integer not null default 0
);
comment on table core_private.sweeps is 'Registered sweeps. Read them through core.sweep_status.';
comment on column core_private.sweeps.driven_by is 'tick: run by core.tick when due. job: has a pg_cron job of its own, and the tick steps in when that is overdue.';
comment on column core_private.sweeps.failures is 'Failed runs since the last good one.';
