create or replace function core.resume_task(p_task_id uuid)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return core_private.set_task_active(p_task_id, true);
end $$;
comment on function core.resume_task(uuid) is 'Lets a paused task fire again, from its next slot on: those of the pause are not caught up. The caller answers for it from now on. False if it was active. Raises NX108, NX401, NX402.';

create or replace function core.resume_task(p_namespace text, p_name text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return core.resume_task(core_private.task_named(p_namespace, p_name));
end $$;
comment on function core.resume_task(text, text) is 'core.resume_task of the task of that name. Raises NX101, NX108, NX401, NX402.';
