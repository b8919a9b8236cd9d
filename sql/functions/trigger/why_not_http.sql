create or replace function core_private.why_not_http(p_trigger_id uuid, p_event_type text, p_payload jsonb)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select 'kind'
$$;
comment on function core_private.why_not_http(uuid, text, jsonb) is 'Why an event does not match a trigger of kind http: it is none.';
