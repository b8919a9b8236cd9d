create or replace view core.settings as
select s.max_trigger_depth, s.trigger_retry,
       s.dead_letter_retention, s.abandoned_retention
  from core_private.settings s;
comment on view core.settings is 'Settings of the database, one row. core.alter_settings changes them, and options of a namespace that are named alike win.';
comment on column core.settings.max_trigger_depth is 'How deep in its chain an event may lie for triggers to fire.';
comment on column core.settings.trigger_retry is 'The retry policy of a trigger that is created with none.';
comment on column core.settings.dead_letter_retention is 'How long resolved dead letters are kept.';
comment on column core.settings.abandoned_retention is 'How long abandoned executions are kept.';
