-- Consumers with levels: what is emitted with a lower priority has message ids of a range of its own, so that claims
-- find each level by itself.

alter table core.consumers add column levels smallint not null default 1 check (levels between 1 and 4);
comment on column core.consumers.levels is 'How many levels its queue has, 1 to 4. An event of a lower priority goes to the level of that number, or to the last one.';

-- Their rows have another column now.
drop function if exists core_private.consumers_of(text, text[], boolean);
drop function if exists core_private.queue_owner(text, text, boolean);
drop function if exists core_private.parse_emit_options(jsonb, timestamptz, text);

-- Without a default: most events have none.
alter table core.event_log add column priority smallint;
comment on column core.event_log.priority is 'What it was emitted with, 2 to 4; NULL: 1, which comes first.';
