-- Not in a migration, since triggers need their functions.
create or replace function core_private.set_up_triggers()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    create or replace trigger check_task
        before insert or delete
               or update of namespace, name, cron_expression, event_type, payload, timezone, active,
                            misfire, misfire_after, backfill, overlap, jitter, starts_at, ends_at, owner
        on core.scheduled_tasks for each row execute function core_private.check_task();
    create or replace trigger follow_task
        after insert or delete
              or update of namespace, name, cron_expression, event_type, payload, timezone, active,
                           misfire, misfire_after, backfill, overlap, jitter, starts_at, ends_at, owner
        on core.scheduled_tasks for each row execute function core_private.follow_task();
    create or replace trigger wake_for_delayed
        after insert on core.delayed
        referencing new table as delayed_now
        for each statement execute function core_private.wake_for_delayed();
    create or replace trigger refuse_truncate
        before truncate on core.scheduled_tasks
        execute function core_private.refuse_truncate();
end $$;
comment on function core_private.set_up_triggers() is 'Gives core.scheduled_tasks and core.delayed their triggers; safe to run again.';
