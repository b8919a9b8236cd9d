create or replace function core_private.event_source(p_trigger_id uuid)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('pattern', d.pattern)
           || case when d.filter is null then '{}' else jsonb_build_object('contains', d.filter) end
      from core.event_trigger_details d
     where d.trigger_id = p_trigger_id
$$;
comment on function core_private.event_source(uuid) is 'The source of a trigger of kind event, as core_private.check_event_source has it.';
