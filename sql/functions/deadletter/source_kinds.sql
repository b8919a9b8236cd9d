-- A further kind of work that can be given up is a row here. Names of functions are text: pg_upgrade refuses a
-- database that stores them as regproc, and a row of a table would be data that the installer has to keep in step.
--
-- replay has the arguments and the result of core_private.replay, and takes those of its kind out of the ids it is
-- given. why has those of core_private.why_not_replayed without the kind. Both are in core_private, and NULL where
-- nothing of the kind is written yet.
create or replace function core_private.source_kinds()
returns table (kind text, replay text, why text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    values
        ('delivery', 'redeliver', 'why_not_redelivered'),
        ('broadcast', 'rebroadcast', 'why_not_rebroadcast'),
        ('lane', 'enqueue_again', 'why_not_enqueued_again'),
        ('task', 'refire', 'why_not_refired'),
        ('trigger', 'redeliver', 'why_not_fired_again'),
        ('workflow_step', null, null),
        ('workflow_compensation', 'recompensate', 'why_not_recompensated')
$$;
comment on function core_private.source_kinds() is 'What a dead letter can have been, as core.dead_letters.source_kind says it, with the functions that replay it and that say why it cannot be replayed.';
