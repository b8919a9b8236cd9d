-- Anyone may take an advisory lock, under any key. Rows of a private table can be locked by nobody but the owner's functions.

create table core_private.locks (
    name  text primary key
);
comment on table core_private.locks is 'Rows that the functions of Nexus lock for what only one may do at a time; nobody else can.';
comment on column core_private.locks.name is 'tick, namespaces, cron, timezones, or "namespace " and its name, which comes when a node registers.';
insert into core_private.locks (name) values ('tick'), ('namespaces'), ('cron'), ('timezones');

create table core_private.deployments (
    owner      text not null,
    namespace  text not null references core.namespaces on delete cascade,
    primary key (owner, namespace)
);
create index deployments_namespace_idx on core_private.deployments (namespace);
comment on table core_private.deployments is 'Rows to lock: the deployments of one owner go one after the other, in each namespace they touch.';

alter table core_private.sweeps
    add column registered_at timestamptz not null default now(),
    add column last_queue text;
comment on column core_private.sweeps.registered_at is 'Since when it could have run.';
comment on column core_private.sweeps.last_queue is 'Where a sweep that takes some queues a run has ended; the next one goes on after it.';

-- Whether the transaction of a batch still runs, the server knows; no lock of anybody can say so.
alter table core_private.express_batches rename column lock_key to xact_id;
comment on table core_private.express_batches is 'One row an express batch in hand: written on another connection before handlers run, removed by the batch''s own transaction. A row whose transaction has ended belongs to a node that died.';
comment on column core_private.express_batches.xact_id is 'The transaction of the batch, which holds its messages.';

create index namespaces_restricted_idx on core.namespaces (namespace) where restricted;

create table core_private.queue_grants (
    queue_name  text not null references core.queues on delete cascade,
    role        regrole not null,
    primary key (queue_name, role)
);
comment on table core_private.queue_grants is 'Roles that have rights on the tables of a queue for a grant to operate its namespace. Kept by core_private.grant_queue.';

-- Their arguments change.
drop function if exists core_private.run_one_sweep(text);
drop function if exists core.sync_cron_jobs();
drop function if exists core_private.next_scheduled_event_due();
drop function if exists core_private.park_unhandled(integer, integer, interval);
drop function if exists core_private.set_aside(integer, interval);
