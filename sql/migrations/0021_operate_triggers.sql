-- Triggers can be held, and more of what they rest on is set per database and per namespace.

alter table core.triggers add column held boolean not null default false;
comment on column core.triggers.held is 'Whether its deliveries are set aside until it is enabled. Never of one that is enabled.';

drop view if exists core.trigger_status; -- it has other columns
