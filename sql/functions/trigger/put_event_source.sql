create or replace function core_private.put_event_source(p_trigger_id uuid, p_namespace text, p_source jsonb)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    insert into core.event_trigger_details (trigger_id, namespace, pattern, filter)
    values (p_trigger_id, p_namespace, p_source ->> 'pattern', p_source -> 'contains')
    on conflict (trigger_id) do update set pattern = excluded.pattern, filter = excluded.filter
$$;
comment on function core_private.put_event_source(uuid, text, jsonb) is 'Keeps the details of a trigger of kind event.';
