-- Kinds of triggers: what else than an event can be their source.

alter table core.triggers
    drop constraint triggers_kind_check,
    add constraint triggers_kind_check check (kind in ('event', 'kv', 'dead_letter', 'cron', 'http'));

drop view if exists core.trigger_status; -- it has other columns
drop function if exists core_private.trigger_state(uuid); -- it returns more
