-- Triggers: rules that put a delivery for a handler on the queue of a routed consumer for each event that matches.

alter table core.namespaces add column trigger_patterns text[];
comment on column core.namespaces.trigger_patterns is 'The patterns of its enabled event triggers, {*} for more than 100; NULL: it has none. Kept by a trigger of core_private.event_routes.';

create table core.triggers (
    trigger_id               uuid primary key,
    namespace                text not null references core.namespaces on delete cascade,
    name                     text collate "C" not null,
    kind                     text not null check (kind in ('event')),
    target                   text collate "C" not null,
    consumer                 text not null,
    enabled                  boolean not null,
    retry_max_attempts       integer not null check (retry_max_attempts = -1 or retry_max_attempts > 0),
    retry_backoff            text not null check (retry_backoff in ('exponential', 'linear', 'constant')),
    retry_base_ms            bigint not null check (retry_base_ms >= 0),
    retry_max_ms             bigint not null check (retry_max_ms >= 0),
    retry_jitter             float8 not null check (retry_jitter between 0 and 1),
    registered_by_principal  regrole not null,
    registered_by            text not null,
    created_at               timestamptz not null,
    updated_at               timestamptz not null,
    unique (namespace, name),
    foreign key (namespace, target) references core.handlers,
    foreign key (namespace, consumer) references core.consumers (namespace, name)
);
create index triggers_namespace_kind_idx on core.triggers (namespace, kind) where enabled;
create index triggers_namespace_target_idx on core.triggers (namespace, target);
create index triggers_namespace_consumer_idx on core.triggers (namespace, consumer);
alter table core.triggers enable row level security;
comment on table core.triggers is 'Rules by which deliveries for handlers are made. Written by core.create_trigger and its kin; core.trigger_status shows them.';
comment on column core.triggers.trigger_id is 'Its id, which deliveries carry.';
comment on column core.triggers.namespace is 'The namespace of its source and of its target.';
comment on column core.triggers.name is 'Unique in the namespace.';
comment on column core.triggers.kind is 'What its source is: event.';
comment on column core.triggers.target is 'The key of the handler that its deliveries name.';
comment on column core.triggers.consumer is 'The routed consumer by whose queue they go.';
comment on column core.triggers.enabled is 'Whether emits make deliveries by it.';
comment on column core.triggers.retry_max_attempts is 'How often a delivery is tried, the first time counted; -1: for ever.';
comment on column core.triggers.retry_backoff is 'How pauses grow: exponential, linear or constant.';
comment on column core.triggers.retry_base_ms is 'The first pause.';
comment on column core.triggers.retry_max_ms is 'The longest one.';
comment on column core.triggers.retry_jitter is 'By which part a pause may differ, 0 to 1.';
comment on column core.triggers.registered_by_principal is 'The role that created it, by whose duties its deliveries are judged.';
comment on column core.triggers.registered_by is 'The session user then, with the role set, if any.';
comment on column core.triggers.created_at is 'Database clock when it was created.';
comment on column core.triggers.updated_at is 'Database clock when it was last replaced, enabled or disabled.';

create table core.event_trigger_details (
    trigger_id  uuid primary key references core.triggers on delete cascade,
    namespace   text not null references core.namespaces on delete cascade,
    pattern     text collate "C" not null,
    filter      jsonb check (jsonb_typeof(filter) = 'object')
);
create index event_trigger_details_namespace_idx on core.event_trigger_details (namespace);
alter table core.event_trigger_details enable row level security;
comment on table core.event_trigger_details is 'What triggers of kind event go by.';
comment on column core.event_trigger_details.trigger_id is 'The trigger.';
comment on column core.event_trigger_details.namespace is 'Its namespace.';
comment on column core.event_trigger_details.pattern is 'Types of events: exact, prefix.*, prefix:* or *.';
comment on column core.event_trigger_details.filter is 'What the payload has to contain; NULL: anything.';

-- What emit reads: all that a delivery needs, of the triggers that are enabled.
create table core_private.event_routes (
    trigger_id  uuid primary key references core.triggers on delete cascade,
    namespace   text not null,
    pattern     text collate "C" not null,
    filter_key  text collate "C" not null,
    filter      jsonb,
    target      text not null,
    queue_name  text not null,
    marks       jsonb not null,
    headers     jsonb not null
);
create index event_routes_namespace_pattern_filter_key_idx on core_private.event_routes (namespace, pattern, filter_key);
comment on table core_private.event_routes is 'Enabled event triggers as emit needs them. Kept by triggers of core.triggers and core.event_trigger_details.';
comment on column core_private.event_routes.trigger_id is 'The trigger.';
comment on column core_private.event_routes.namespace is 'Its namespace.';
comment on column core_private.event_routes.pattern is 'Its pattern.';
comment on column core_private.event_routes.filter_key is 'One scalar of its filter, by which it is found; empty: it has none.';
comment on column core_private.event_routes.filter is 'Its filter.';
comment on column core_private.event_routes.target is 'The key of the handler.';
comment on column core_private.event_routes.queue_name is 'The queue of its consumer.';
comment on column core_private.event_routes.marks is 'What the message of a delivery has beside the event: triggerId and trigger.';
comment on column core_private.event_routes.headers is 'The header nexus-retry.';

create table core.trigger_drops (
    drop_id     bigint generated always as identity primary key,
    namespace   text not null references core.namespaces on delete cascade,
    event_id    bigint,
    event_type  text not null,
    trigger_id  uuid,
    why         text not null check (why in ('depth', 'deleted')),
    deliveries  bigint not null,
    dropped_at  timestamptz not null
);
create index trigger_drops_namespace_dropped_at_idx on core.trigger_drops (namespace, dropped_at);
alter table core.trigger_drops enable row level security;
comment on table core.trigger_drops is 'Deliveries that triggers did not make, or that were dropped at their claim, for 7 days.';
comment on column core.trigger_drops.drop_id is 'Its number.';
comment on column core.trigger_drops.namespace is 'The namespace.';
comment on column core.trigger_drops.event_id is 'The event; NULL where several were dropped together.';
comment on column core.trigger_drops.event_type is 'Its type.';
comment on column core.trigger_drops.trigger_id is 'The trigger, where it was deleted.';
comment on column core.trigger_drops.why is 'depth: the event lies deeper than 8 in its chain, so that a loop ends; deleted: its trigger was deleted while it was being delivered.';
comment on column core.trigger_drops.deliveries is 'How many deliveries.';
comment on column core.trigger_drops.dropped_at is 'Database clock when they were.';

drop function if exists core_private.queue_owner(text, text, boolean); -- it returns more

insert into core.error_codes (code, meaning, remedy) values
    ('NX014', 'trigger that cannot be', 'The hint says what is accepted.'),
    ('NX114', 'no such trigger', 'core.trigger_status has them.'),
    ('NX223', 'handler that triggers name', 'Delete these triggers first, or give them another target.'),
    ('NX605', 'too many triggers in a namespace', 'Delete some: 10,000 are the most.');
update core.error_codes
   set meaning = 'consumer, webhook, handler or trigger exists with other settings', remedy = 'Change it with core.alter_consumer, core.alter_webhook or the option replace of core.create_trigger, or drop it first.'
 where code = 'NX212';
