-- Derived, so that a consumer knows an event of a slot again wherever it came from. Not pinned, so that it is inlined.
create or replace function core_private.slot_uid(p_task_id uuid, p_slot timestamptz)
returns uuid
language sql stable parallel safe
as $$
    select pg_catalog.md5(
               p_task_id::pg_catalog.text
               operator(pg_catalog.||) ':'
               operator(pg_catalog.||) extract(epoch from p_slot)::pg_catalog.text)
           ::pg_catalog.uuid
$$;
comment on function core_private.slot_uid(uuid, timestamptz) is 'The event_uid of a task''s slot.';
