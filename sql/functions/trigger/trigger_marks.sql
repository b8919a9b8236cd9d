create or replace function core_private.trigger_marks(p_trigger core.triggers)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return jsonb_build_object(
        'triggerId', p_trigger.trigger_id, 'trigger', p_trigger.name, 'eventType', p_trigger.target);
end $$;
comment on function core_private.trigger_marks(core.triggers) is 'What messages of a trigger have in place of the event''s own type, which is their sourceType.';
