-- Triggers can be held, and more of what they rest on is set per database and per namespace.

alter table core.triggers add column held boolean not null default false;
comment on column core.triggers.held is 'Whether its deliveries are set aside until it is enabled. Never of one that is enabled.';

drop view if exists core.trigger_status; -- it has other columns

alter table core.namespaces
    add column max_trigger_depth integer check (max_trigger_depth between 1 and 1000),
    add column trigger_retry jsonb check (jsonb_typeof(trigger_retry) = 'object'),
    add column dead_letter_retention interval check (dead_letter_retention > interval '0'),
    add column abandoned_retention interval check (abandoned_retention > interval '0');
comment on column core.namespaces.max_trigger_depth is 'How deep in its chain an event may lie for triggers to fire; NULL: as core.settings says.';
comment on column core.namespaces.trigger_retry is 'Retries of triggers that are created, above those of core.settings.';
comment on column core.namespaces.dead_letter_retention is 'How long resolved dead letters are kept; NULL: as core.settings says.';
comment on column core.namespaces.abandoned_retention is 'How long abandoned executions are kept; NULL: as core.settings says.';

create table core_private.settings (
    id                     boolean primary key default true check (id),
    max_trigger_depth      integer not null default 8 check (max_trigger_depth between 1 and 1000),
    trigger_retry          jsonb not null check (jsonb_typeof(trigger_retry) = 'object'),
    dead_letter_retention  interval not null default interval '30 days' check (dead_letter_retention > interval '0'),
    abandoned_retention    interval not null default interval '7 days' check (abandoned_retention > interval '0')
);
comment on table core_private.settings is 'Settings of the database, one row. Written by core.alter_settings, seen in core.settings.';
comment on column core_private.settings.id is 'true; there is one row.';
comment on column core_private.settings.max_trigger_depth is 'How deep in its chain an event may lie for triggers to fire.';
comment on column core_private.settings.trigger_retry is 'The retry policy of a trigger that is created with none, whole.';
comment on column core_private.settings.dead_letter_retention is 'How long resolved dead letters are kept.';
comment on column core_private.settings.abandoned_retention is 'How long abandoned executions are kept.';
insert into core_private.settings (trigger_retry)
values ('{"max_attempts": 3, "shape": "exponential", "base": "1 s", "max": "5 min", "jitter": 0.2}');

create index trigger_drops_dropped_at_idx on core.trigger_drops (dropped_at);
comment on column core.trigger_drops.why is 'depth: the event lies deeper in its chain than max_trigger_depth, so that a loop ends; deleted: its trigger was deleted while it was being delivered.';
drop function if exists core_private.max_trigger_depth(); -- it takes a namespace

alter table core.consumers
    add column gives_up text not null default 'bury' check (gives_up in ('bury', 'answer'));
comment on column core.consumers.gives_up is 'What becomes of a delivery that is given up: bury, a dead letter; answer, the reply of a request, which leaves none.';
update core.consumers set gives_up = 'answer' where name = 'requests' and routed;

create index dead_letters_trigger_idx on core.dead_letters ((envelope ->> 'triggerId'))
    where resolved_at is null and envelope ? 'triggerId';
alter table core.delivery_errors add column trigger_id uuid;
comment on column core.delivery_errors.trigger_id is 'The trigger that made the delivery; NULL: none did.';
create index delivery_errors_trigger_id_idx on core.delivery_errors (trigger_id, failed_at) where trigger_id is not null;
create index trigger_drops_trigger_id_idx on core.trigger_drops (trigger_id) where trigger_id is not null;
comment on column core.trigger_drops.trigger_id is 'The trigger; NULL for those of dead letters that lie too deep.';
drop function if exists core_private.trigger_state(uuid); -- it returns more
