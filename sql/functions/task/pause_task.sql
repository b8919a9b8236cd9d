create or replace function core.pause_task(p_task_id uuid)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return core_private.set_task_active(p_task_id, false);
end $$;
comment on function core.pause_task(uuid) is 'Stops a task from firing; false if it was paused. A slot that is due and not fired yet is skipped. Raises NX108, NX401, NX402.';

create or replace function core.pause_task(p_namespace text, p_name text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return core.pause_task(core_private.task_named(p_namespace, p_name));
end $$;
comment on function core.pause_task(text, text) is 'core.pause_task of the task of that name. Raises NX101, NX108, NX401, NX402.';
