-- Triggers whose functions run in the transaction that emits.

create table core_private.sync_routes (
    trigger_id  uuid primary key references core.triggers on delete cascade,
    namespace   text not null,
    pattern     text collate "C" not null,
    filter_key  text collate "C" not null check (filter_key = ''),
    filter      jsonb,
    marks       jsonb not null
);
create index sync_routes_namespace_pattern_idx on core_private.sync_routes (namespace, pattern);
comment on table core_private.sync_routes is 'Enabled event triggers that are sync. Kept by triggers of core.triggers and core.event_trigger_details.';
comment on column core_private.sync_routes.trigger_id is 'The trigger.';
comment on column core_private.sync_routes.namespace is 'Its namespace.';
comment on column core_private.sync_routes.pattern is 'Its pattern.';
comment on column core_private.sync_routes.filter_key is 'Empty: these are looked up by their pattern alone.';
comment on column core_private.sync_routes.filter is 'Its filter.';
comment on column core_private.sync_routes.marks is 'triggerId, trigger and the key of the handler.';
comment on column core_private.kv_routes.queue_name is 'The queue of its consumer; empty: it is sync.';
comment on column core.namespaces.trigger_patterns is 'The patterns of its enabled event triggers, and > with what stands before the first dot or colon of those with *; beyond 100 patterns only that of each, and >; beyond 100 of these *; ? says that some have filters with a key, ! that some are sync; NULL: it has none. Kept by triggers of core_private.event_routes and sync_routes.';
