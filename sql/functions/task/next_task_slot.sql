-- Slots of @every count from starts_at, else from the task's creation.
create or replace function core_private.next_task_slot(
    p_spec jsonb, p_timezone text, p_after timestamptz,
    p_created_at timestamptz, p_starts_at timestamptz, p_ends_at timestamptz)
returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_slot timestamptz := core_private.next_slot(
        p_spec, p_timezone,
        greatest(p_after, p_starts_at - interval '1 microsecond'),
        coalesce(p_starts_at, p_created_at));
begin
    return case when v_slot > p_ends_at then null else v_slot end;
end $$;
comment on function core_private.next_task_slot(jsonb, text, timestamptz, timestamptz, timestamptz, timestamptz) is 'The first slot after a time within the bounds of a task; NULL if none comes.';
