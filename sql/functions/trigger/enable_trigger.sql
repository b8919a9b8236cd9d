create or replace function core.enable_trigger(p_namespace text, p_name text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_trigger core.triggers := core_private.lock_trigger(p_namespace, p_name);
begin
    if v_trigger.enabled = true then
        return false;
    end if;
    update core.triggers t set enabled = true, updated_at = v_now where t.trigger_id = v_trigger.trigger_id;
    perform core_private.audit('enable_trigger', p_namespace, p_name, null);
    return true;
end $$;
comment on function core.enable_trigger(text, text) is 'Has emits that begin after the commit make deliveries by a trigger again, and what was held be delivered when it is due; false if they did. Raises 42501, NX101, NX114, NX401, NX402.';

create or replace function core.enable_trigger(p_trigger_id uuid)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_trigger record;
begin
    select * into v_trigger from core_private.trigger_named(p_trigger_id);
    return core.enable_trigger(v_trigger.namespace, v_trigger.name);
end $$;
comment on function core.enable_trigger(uuid) is 'core.enable_trigger of the trigger of that id. Raises 42501, NX114, NX401, NX402.';
