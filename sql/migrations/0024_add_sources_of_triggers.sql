-- Dead letters as sources of triggers, and what became of their handlers.

alter table core.triggers add column resolve boolean not null default false;
comment on column core.triggers.resolve is 'Whether a dead letter is resolved when its delivery is acknowledged.';
create index triggers_dead_letter_idx on core.triggers (namespace) where kind = 'dead_letter';

create table core.dead_letter_trigger_details (
    trigger_id  uuid primary key references core.triggers on delete cascade,
    namespace   text not null references core.namespaces on delete cascade,
    source      text,
    trigger     text,
    target      text
);
create index dead_letter_trigger_details_namespace_idx on core.dead_letter_trigger_details (namespace);
alter table core.dead_letter_trigger_details enable row level security;
comment on table core.dead_letter_trigger_details is 'What triggers of kind dead_letter go by; NULL matches all.';
comment on column core.dead_letter_trigger_details.trigger_id is 'The trigger.';
comment on column core.dead_letter_trigger_details.namespace is 'Its namespace.';
comment on column core.dead_letter_trigger_details.source is 'What was given up: delivery, task, lane, …; trigger: a delivery that a trigger had made.';
comment on column core.dead_letter_trigger_details.trigger is 'The name of the trigger that had made the delivery.';
comment on column core.dead_letter_trigger_details.target is 'The key of the handler that the delivery named.';

alter table core.dead_letters
    add column handler_failed_at timestamptz,
    add column handler_failures integer not null default 0,
    add column handler_error text;
comment on column core.dead_letters.handler_failed_at is 'When the handler of a trigger last failed at it; NULL: none has.';
comment on column core.dead_letters.handler_failures is 'How many handlers of triggers failed at it.';
comment on column core.dead_letters.handler_error is 'Error text of the last of them.';

-- Schedules as sources of triggers.
alter table core.scheduled_tasks add column to_triggers boolean not null default false;
comment on column core.scheduled_tasks.to_triggers is 'Whether its events go to the triggers that name it alone, and to no consumer.';

create table core.cron_trigger_details (
    trigger_id  uuid primary key references core.triggers on delete cascade,
    namespace   text not null references core.namespaces on delete cascade,
    task_id     uuid references core.scheduled_tasks on delete set null,
    source      jsonb not null
);
create index cron_trigger_details_namespace_idx on core.cron_trigger_details (namespace);
create index cron_trigger_details_task_idx on core.cron_trigger_details (task_id);
alter table core.cron_trigger_details enable row level security;
comment on table core.cron_trigger_details is 'What triggers of kind cron go by.';
comment on column core.cron_trigger_details.trigger_id is 'The trigger.';
comment on column core.cron_trigger_details.namespace is 'Its namespace.';
comment on column core.cron_trigger_details.task_id is 'The task whose events it gets; NULL: that was deleted.';
comment on column core.cron_trigger_details.source is 'What was asked for: a task, or what one that goes with the trigger was made of.';
