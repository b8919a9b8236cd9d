-- Triggers that look back: the log says which triggers an emit met, as it does of consumers.

alter table core.namespaces add column trigger_generation bigint not null default 0;
comment on column core.namespaces.trigger_generation is 'Rises with each trigger that is created, replaced, enabled or disabled.';
alter table core.event_log add column trigger_generation bigint;
comment on column core.event_log.trigger_generation is 'That of the namespace when triggers were looked up for it: which of them it met. NULL: there had never been any.';

alter table core.triggers add column replaced_generation bigint;
comment on column core.triggers.replaced_generation is 'The generation that its last replacement began; NULL: it is as it was created.';

-- From which generation on a trigger made deliveries, or none.
create table core_private.trigger_periods (
    trigger_id  uuid not null references core.triggers on delete cascade,
    generation  bigint not null,
    fires       boolean not null,
    primary key (trigger_id, generation)
);
comment on table core_private.trigger_periods is 'One row for each time a trigger was created, replaced, enabled or disabled.';
comment on column core_private.trigger_periods.trigger_id is 'The trigger.';
comment on column core_private.trigger_periods.generation is 'The generation of its namespace from which this holds, up to that of its next row.';
comment on column core_private.trigger_periods.fires is 'Whether emits of that time made deliveries by it.';
insert into core_private.trigger_periods (trigger_id, generation, fires) select t.trigger_id, 0, t.enabled from core.triggers t;

alter table core_private.backfills
    alter column consumer_id drop not null,
    add column trigger_id uuid references core.triggers on delete cascade,
    add column since_generation bigint not null default 0,
    add column filter jsonb,
    add column rate text,
    add column paced_to timestamptz,
    add constraint backfills_whose_check check (num_nonnulls(consumer_id, trigger_id) = 1);
create index backfills_trigger_idx on core_private.backfills (trigger_id);
comment on table core_private.backfills is 'One row for each time a consumer or a trigger was to get what is in the log: deliveries of all rows of an older generation that match and that it had not got. Read them through core.consumer_status and core.trigger_status.';
comment on column core_private.backfills.consumer_id is 'The consumer that gets the events; NULL: it is one of a trigger.';
comment on column core_private.backfills.namespace is 'The namespace of the consumer or trigger.';
comment on column core_private.backfills.trigger_id is 'The trigger that looks back.';
comment on column core_private.backfills.since_generation is 'Rows of the log of an older generation are left: it looks back at what was emitted while a trigger was disabled.';
comment on column core_private.backfills.filter is 'What a trigger asked of the payload when it began to look back.';
comment on column core_private.backfills.rate is 'Most deliveries in a time, such as 100/min; NULL: no limit.';
comment on column core_private.backfills.paced_to is 'When the next delivery is due at that rate; NULL: at once.';

drop function if exists core_private.fire_plan(text, text[]); -- it returns more
drop function if exists core_private.fire_triggers(text, text, text[], jsonb, jsonb, jsonb, timestamptz, timestamptz, integer); -- it returns the generation
drop function if exists core.enable_trigger(text, text); -- it has options
drop function if exists core.enable_trigger(uuid);
