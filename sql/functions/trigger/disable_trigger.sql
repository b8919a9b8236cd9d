create or replace function core.disable_trigger(p_namespace text, p_name text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_trigger core.triggers := core_private.lock_trigger(p_namespace, p_name);
begin
    if v_trigger.enabled = false then
        return false;
    end if;
    update core.triggers t set enabled = false, updated_at = v_now where t.trigger_id = v_trigger.trigger_id;
    perform core_private.audit('disable_trigger', p_namespace, p_name, null);
    return true;
end $$;
comment on function core.disable_trigger(text, text) is 'Has emits that begin after the commit make no deliveries by a trigger; false if they made none. What is queued is handled. Raises 42501, NX101, NX114, NX401, NX402.';
