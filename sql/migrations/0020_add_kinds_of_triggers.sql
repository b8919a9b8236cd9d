-- Kinds of triggers: what else than an event can be their source.

alter table core.triggers
    drop constraint triggers_kind_check,
    add constraint triggers_kind_check check (kind in ('event', 'kv', 'dead_letter', 'cron', 'http'));

drop view if exists core.trigger_status; -- it has other columns
drop function if exists core_private.trigger_state(uuid); -- it returns more

comment on column core.namespaces.trigger_patterns is 'The patterns of its enabled event triggers; beyond 100 > and what stands before the first dot or colon of each, beyond 100 of these {*}; NULL: it has none. Kept by a trigger of core_private.event_routes.';
