-- Recurring tasks: what fires when, the proof that each slot fired once, and what drives it all.

create table core.scheduled_tasks (
    task_id          uuid primary key default gen_random_uuid(),
    namespace        text not null references core.namespaces on delete cascade,
    job_id           bigint,
    name             text not null check (octet_length(name) between 1 and 200),
    cron_expression  text not null,
    event_type       text not null,
    payload          jsonb not null default '{}',
    timezone         text not null default 'UTC',
    active           boolean not null default true,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now(),
    misfire          text not null default 'fire_once',
    misfire_after    interval not null default interval '2 minutes',
    backfill         integer not null default 0,
    overlap          text not null,
    jitter           interval not null default interval '0',
    starts_at        timestamptz,
    ends_at          timestamptz,
    owner            text,
    registered_by    text not null,
    spec             jsonb not null,
    jitter_offset    interval not null default interval '0',
    next_slot        timestamptz,
    next_run_at      timestamptz,
    waiting_slot     timestamptz,
    last_slot        timestamptz,
    last_run_at      timestamptz,
    failures         integer not null default 0,
    last_error       text,
    unique (namespace, name)
) with (fillfactor = 70);
create index scheduled_tasks_due_idx on core.scheduled_tasks (next_run_at) where next_run_at is not null;
create index scheduled_tasks_waiting_idx on core.scheduled_tasks (task_id) where waiting_slot is not null;
comment on table core.scheduled_tasks is 'Recurring tasks: each emits its event at each slot. INSERT, UPDATE and DELETE are checked, and keep pg_cron''s jobs in step.';
comment on column core.scheduled_tasks.job_id is 'The task''s own job in pg_cron, where it has one. Nothing depends on it: core.tick() and nodes fire every task.';
comment on column core.scheduled_tasks.cron_expression is 'Five fields, @hourly to @yearly, or @every with a duration.';
comment on column core.scheduled_tasks.misfire is 'What becomes of slots older than misfire_after: skip, fire_once (the newest) or backfill (the newest n, oldest first).';
comment on column core.scheduled_tasks.misfire_after is 'Slots no older than this are late, not missed, and all fire.';
comment on column core.scheduled_tasks.backfill is 'How many missed slots misfire backfill catches up.';
comment on column core.scheduled_tasks.overlap is 'What becomes of a slot while the event of an earlier one is undelivered or running: allow, skip or queue_one.';
comment on column core.scheduled_tasks.jitter is 'The task fires up to this much after its slot, always by the same share of it. Its slot stays the same.';
comment on column core.scheduled_tasks.owner is 'Which deployment declared it; NULL for tasks made by hand.';
comment on column core.scheduled_tasks.registered_by is 'The role that last said what fires when. Set from the session, and asked for its rights at each firing.';
comment on column core.scheduled_tasks.spec is 'The compiled expression.';
comment on column core.scheduled_tasks.jitter_offset is 'This task''s share of jitter.';
comment on column core.scheduled_tasks.next_slot is 'The slot that comes next; NULL while paused and after the last.';
comment on column core.scheduled_tasks.next_run_at is 'When it is tried: next_slot with the jitter, or later after a failure.';
comment on column core.scheduled_tasks.waiting_slot is 'Under overlap queue_one: the slot that waits for the event before it.';
comment on column core.scheduled_tasks.failures is 'Failed firings since the last good one.';

create table core.task_slots (
    task_id      uuid not null,
    slot         timestamptz not null,
    namespace    text not null,
    status       text not null check (status in ('fired', 'caught_up', 'skipped', 'waiting', 'missed')),
    reason       text,
    until        timestamptz,
    event_id     bigint,
    event_uid    uuid,
    recorded_at  timestamptz not null,
    lateness     interval,
    primary key (task_id, slot),
    check ((event_id is not null) = (status in ('fired', 'caught_up')))
);
create index task_slots_recorded_at_idx on core.task_slots (recorded_at);
comment on table core.task_slots is 'What became of each slot of a task: the proof that none fires twice. Kept seven days, also after the task.';
comment on column core.task_slots.status is 'fired; caught_up (fired as a misfire); skipped (overlap, pause or edit); waiting (overlap queue_one); missed. Only missed and waiting may yet become fired.';
comment on column core.task_slots.until is 'Where the row stands for all slots from slot up to this time, which is not one of them; other rows in between say better.';
comment on column core.task_slots.lateness is 'From the slot to its firing.';

create table core.task_runs (
    run_id     bigint generated always as identity primary key,
    task_id    uuid not null,
    namespace  text not null,
    ran_at     timestamptz not null,
    ran_by     text not null,
    event_id   bigint not null,
    event_uid  uuid not null
);
create index task_runs_task_id_idx on core.task_runs (task_id, ran_at desc);
create index task_runs_ran_at_idx on core.task_runs (ran_at);
comment on table core.task_runs is 'Runs that people asked for, which have no slot. Kept as long as core.task_slots.';

-- Not tied to the queue by a key: rows of what was acked stay until somebody asks.
create table core_private.task_deliveries (
    queue_name  text not null references core.queues on delete cascade,
    msg_id      bigint not null,
    task_id     uuid not null references core.scheduled_tasks on delete cascade,
    slot        timestamptz,
    event_id    bigint not null,
    primary key (queue_name, msg_id)
);
create index task_deliveries_task_id_idx on core_private.task_deliveries (task_id);
comment on table core_private.task_deliveries is 'Deliveries of tasks whose overlap policy is not allow, to see whether they are still under way.';
comment on column core_private.task_deliveries.slot is 'NULL for a run that somebody asked for.';

create table core_private.scheduler (
    id             boolean primary key default true check (id),
    scheduler      text not null default 'auto' check (scheduler in ('pg_cron', 'nodes', 'auto')),
    max_cron_jobs  integer not null default 20 check (max_cron_jobs between 0 and 1000),
    keep_slots     interval not null default interval '7 days' check (keep_slots >= interval '1 hour'),
    last_tick_at   timestamptz
) with (fillfactor = 50);
insert into core_private.scheduler default values;
comment on table core_private.scheduler is 'Settings and state of the scheduler, one row. Written by core.alter_scheduler and by firing.';
comment on column core_private.scheduler.scheduler is 'Who fires tasks: pg_cron (nodes step in when it is overdue), nodes (tasks get no jobs of their own), auto (both).';
comment on column core_private.scheduler.last_tick_at is 'When due tasks were last looked for, to 5 s. A clock that stands well before it was set back.';

create table core_private.cron_slots (
    n        integer primary key check (n > 0),
    task_id  uuid unique references core.scheduled_tasks on delete set null
);
insert into core_private.cron_slots (n) select g from generate_series(1, 20) g;
comment on table core_private.cron_slots is 'The jobs that tasks may have in pg_cron, max_cron_jobs of them, and which task has each.';

-- Whether the delivery of a task waits there.
create index delayed_msg_id_idx on core.delayed (queue_name, msg_id) where msg_id is not null;

alter table core.scheduled_tasks enable row level security;
alter table core.task_slots enable row level security;
alter table core.task_runs enable row level security;

-- What becomes of the slots of one task that are due. Missed ones are a range [missed_from, missed_to).
create type core_private.slot_plan as (
    slots        timestamptz[],
    statuses     text[],
    missed_from  timestamptz,
    missed_to    timestamptz,
    next_slot    timestamptz
);
comment on type core_private.slot_plan is 'Result of core_private.plan_slots.';

-- It takes the role to ask for.
drop function if exists core_private.has_duty(text, text, boolean);

insert into core.error_codes (code, meaning, mend) values
    ('NX013', 'setting of a recurring task', 'The hint says what the setting takes.'),
    ('NX108', 'no such recurring task', 'Look at core.task_status.'),
    ('NX208', 'recurring task exists with another owner or other settings', 'Choose another name, or give the owner.');
