-- Kinds of triggers: what else than an event can be their source.

alter table core.triggers
    drop constraint triggers_kind_check,
    add constraint triggers_kind_check check (kind in ('event', 'kv', 'dead_letter', 'cron', 'http'));

drop view if exists core.trigger_status; -- it has other columns
drop function if exists core_private.trigger_state(uuid); -- it returns more

comment on column core.namespaces.trigger_patterns is 'The patterns of its enabled event triggers; beyond 100 > and what stands before the first dot or colon of each, beyond 100 of these {*}; NULL: it has none. Kept by a trigger of core_private.event_routes.';

-- Kind kv: mutations of a collection, of keys or of the rows of a watched table.
create table core.kv_trigger_details (
    trigger_id  uuid primary key references core.triggers on delete cascade,
    namespace   text not null references core.namespaces on delete cascade,
    collection  text collate "C" not null,
    ops         text[] not null check (ops <@ '{insert,update,delete}'),
    columns     text[] not null,
    filter      jsonb check (jsonb_typeof(filter) = 'object')
);
create index kv_trigger_details_namespace_idx on core.kv_trigger_details (namespace);
alter table core.kv_trigger_details enable row level security;
comment on table core.kv_trigger_details is 'What triggers of kind kv go by.';
comment on column core.kv_trigger_details.trigger_id is 'The trigger.';
comment on column core.kv_trigger_details.namespace is 'Its namespace.';
comment on column core.kv_trigger_details.collection is 'Collections: exact, prefix.*, prefix:* or *.';
comment on column core.kv_trigger_details.ops is 'insert, update, delete; {}: any.';
comment on column core.kv_trigger_details.columns is 'Of which an update has to change one; {}: any.';
comment on column core.kv_trigger_details.filter is 'What the mutation has to contain; NULL: anything.';

create table core_private.kv_routes (
    trigger_id  uuid primary key references core.triggers on delete cascade,
    namespace   text not null,
    pattern     text collate "C" not null,
    ops         text[] not null,
    columns     text[] not null,
    filter      jsonb,
    queue_name  text not null,
    marks       jsonb not null,
    headers     jsonb not null
);
create index kv_routes_namespace_pattern_idx on core_private.kv_routes (namespace, pattern);
comment on table core_private.kv_routes is 'Enabled triggers of kind kv as mutations need them. Kept by triggers of core.triggers and core.kv_trigger_details.';
comment on column core_private.kv_routes.trigger_id is 'The trigger.';
comment on column core_private.kv_routes.namespace is 'Its namespace.';
comment on column core_private.kv_routes.pattern is 'Its collections.';
comment on column core_private.kv_routes.ops is 'Its ops; truncate is one of delete.';
comment on column core_private.kv_routes.columns is 'Its columns.';
comment on column core_private.kv_routes.filter is 'Its filter.';
comment on column core_private.kv_routes.queue_name is 'The queue of its consumer.';
comment on column core_private.kv_routes.marks is 'What the message of a delivery has beside the event: triggerId, trigger and the key of the handler.';
comment on column core_private.kv_routes.headers is 'The header nexus-retry.';

-- Columns by number, so that renaming one changes nothing.
create table core.watched_tables (
    watch_id                 bigint generated always as identity primary key,
    namespace                text not null references core.namespaces on delete cascade,
    relation                 regclass not null unique,
    collection               text collate "C" not null,
    ops                      text[] not null check (ops <@ '{insert,update,delete}'),
    columns                  smallint[] not null,
    key                      smallint[] not null,
    unchanged                boolean not null,
    emit                     boolean not null,
    replica                  boolean not null,
    by_row                   boolean not null,
    enabled                  boolean not null default true,
    off_reason               text,
    registered_by_principal  regrole not null,
    registered_by            text not null,
    created_at               timestamptz not null,
    check (enabled = (off_reason is null))
);
create index watched_tables_namespace_idx on core.watched_tables (namespace);
alter table core.watched_tables enable row level security;
comment on table core.watched_tables is 'Tables whose changes are mutations of a collection. Written by core.watch_table and its kin; core.watch_status shows them.';
comment on column core.watched_tables.watch_id is 'Its number, which the triggers on the table name.';
comment on column core.watched_tables.namespace is 'The namespace of the mutations.';
comment on column core.watched_tables.relation is 'The table; of a partitioned one the root.';
comment on column core.watched_tables.collection is 'The collection of the mutations.';
comment on column core.watched_tables.ops is 'Which changes count: insert, update, delete; {}: all.';
comment on column core.watched_tables.columns is 'Numbers of the columns that are shown and count; {}: all.';
comment on column core.watched_tables.key is 'Numbers of the columns that are the key where the table has no primary key and no replica identity; {}: none.';
comment on column core.watched_tables.unchanged is 'Whether updates count that change nothing.';
comment on column core.watched_tables.emit is 'Whether each mutation is an ordinary event as well.';
comment on column core.watched_tables.replica is 'Whether what replication applies counts.';
comment on column core.watched_tables.by_row is 'Whether it is watched row by row, as partitioned tables and those with replica are.';
comment on column core.watched_tables.enabled is 'Whether changes are mutations at present.';
comment on column core.watched_tables.off_reason is 'Why it is off.';
comment on column core.watched_tables.registered_by_principal is 'The role that watched it, which has to be one that may produce.';
comment on column core.watched_tables.registered_by is 'The session user then, with the role set, if any.';
comment on column core.watched_tables.created_at is 'Database clock when it was watched.';

insert into core.error_codes (code, meaning, remedy) values
    ('NX017', 'table that cannot be watched', 'The message says why.'),
    ('NX112', 'no such watch', 'core.watch_status has them.');
