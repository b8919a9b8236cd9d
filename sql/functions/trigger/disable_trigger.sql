create or replace function core.disable_trigger(p_namespace text, p_name text, p_hold boolean = false)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_trigger core.triggers := core_private.lock_trigger(p_namespace, p_name);
    v_held    bigint;
begin
    if p_hold is null then
        raise exception using errcode = 'NX006', column = 'p_hold',
            message = 'p_hold cannot be NULL', hint = 'Give true or false.';
    elsif not v_trigger.enabled and v_trigger.held >= p_hold then
        return false;
    end if;
    if v_trigger.enabled then
        perform core_private.begin_period(v_trigger.trigger_id, p_namespace, false);
    end if;
    update core.triggers t
       set enabled = false, held = v_trigger.held or p_hold, updated_at = v_now
     where t.trigger_id = v_trigger.trigger_id;
    if p_hold then
        v_held := core_private.hold_deliveries(p_namespace, v_trigger.trigger_id);
    end if;
    perform core_private.audit('disable_trigger', p_namespace, p_name, null,
        jsonb_strip_nulls(jsonb_build_object('held', v_held)));
    return true;
end $$;
comment on function core.disable_trigger(text, text, boolean) is 'Has emits that begin after the commit make no deliveries by a trigger; false if it was so. What is queued is handled; with p_hold it is set aside until the trigger is enabled, also what comes later by emits that still saw it. Raises 42501, NX006, NX101, NX114, NX401, NX402.';

create or replace function core.disable_trigger(p_trigger_id uuid, p_hold boolean = false)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_trigger record;
begin
    select * into v_trigger from core_private.trigger_named(p_trigger_id);
    return core.disable_trigger(v_trigger.namespace, v_trigger.name, p_hold);
end $$;
comment on function core.disable_trigger(uuid, boolean) is 'core.disable_trigger of the trigger of that id. Raises 42501, NX006, NX114, NX401, NX402.';
