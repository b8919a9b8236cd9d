create or replace function core_private.why_not_event(p_trigger_id uuid, p_event_type text, p_payload jsonb)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when not core_private.matches(d.pattern, p_event_type) then 'pattern'
                when not p_payload @> d.filter then 'filter' end
      from core.event_trigger_details d
     where d.trigger_id = p_trigger_id
$$;
comment on function core_private.why_not_event(uuid, text, jsonb) is 'Why an event does not match a trigger of kind event: pattern or filter.';
