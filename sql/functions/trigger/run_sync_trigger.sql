-- Rights are asked for anew each time: what was an administrator's may not be that any more, and what runs here has
-- the session of whoever emits.
create or replace function core_private.run_sync_trigger(p_event core.event_log, p_marks jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_function text;
    v_owner    oid;
    v_creator  oid;
    v_trouble  record;
    v_event    jsonb;
begin
    select h.function, h.owner, t.registered_by_principal
      into v_function, v_owner, v_creator
      from core.triggers t
      join core.handlers h on h.namespace = t.namespace and h.key = t.target
     where t.trigger_id = (p_marks ->> 'triggerId')::uuid;
    if not found then
        return; -- deleted since it was looked up
    end if;
    perform core_private.require_sync_rights(p_event.namespace, p_marks ->> 'trigger', v_creator, v_owner);
    select * into v_trouble from core_private.handler_trouble(v_function, v_owner);
    if v_trouble.what is not null then
        raise exception using errcode = 'NX015', column = 'p_event_type',
            message = format('trigger %s of namespace %s, which is sync, cannot run: %s',
                quote_literal(p_marks ->> 'trigger'), quote_literal(p_event.namespace), v_trouble.what),
            hint = format('%s Or core.disable_trigger.', v_trouble.mend);
    end if;
    v_event := core_private.handler_event(
        p_event.namespace, null, null, 1,
        core_private.logged_message(p_event) || p_marks || jsonb_build_object('sourceType', p_event.event_type),
        p_event.headers) - '{consumer,messageId,redeliveryCount}'::text[];
    perform set_config('nexus.cause', core_private.cause_of(v_event), true);
    perform core_private.call_handler(core_private.handler_oid(v_function), v_owner, v_event, false, true);
end $$;
comment on function core_private.run_sync_trigger(core.event_log, jsonb) is 'Runs the function of a trigger that is sync for an event, as its owner, in the transaction that emits. Raises 42501, NX015, NX215, and what the function raises.';
