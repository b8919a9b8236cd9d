create or replace function core_private.fail_task(p_task_id uuid, p_error text, p_now timestamptz)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    update core.scheduled_tasks t
       set failures = t.failures + 1, last_error = core_private.clean_text(p_error),
           next_run_at = p_now + least(interval '1 hour', interval '1 minute' * power(2, least(t.failures, 6)))
     where t.task_id = p_task_id
$$;
comment on function core_private.fail_task(uuid, text, timestamptz) is 'Records that a task could not be fired and puts it back: for a minute, then longer, an hour at most.';
