-- It takes the schedules, too.
drop function if exists core_private.why_not_replayed(text, text, text);
