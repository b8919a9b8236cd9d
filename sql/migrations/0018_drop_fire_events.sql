-- One function halves sets of tasks and of events now.
drop function if exists core_private.fire_events(text, uuid[], timestamptz);
drop function if exists core_private.fire_isolated(text, uuid[], timestamptz);
