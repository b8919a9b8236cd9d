create or replace function core.drop_handler(p_namespace text, p_key text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_handler core.handlers;
    v_trigger text;
begin
    perform core_private.require_consuming(p_namespace);
    perform core_private.refuse_borrowed_session();
    perform core_private.check_handler_key(p_key);
    select * into v_handler from core.handlers h where h.namespace = p_namespace and h.key = p_key for update;
    if not found then
        return false;
    elsif v_handler.kind in ('sql', 'webhook') and (
              v_handler.kind = 'webhook' or not pg_has_role(core_private.caller(), v_handler.owner, 'member'))
          and not core_private.has_duty(
              p_namespace, 'operate', (select n.restricted from core.namespaces n where n.namespace = p_namespace)) then
        raise exception using errcode = 'insufficient_privilege', column = 'p_key',
            message = format('handler %s is not yours, and this is %I', quote_literal(p_key), core_private.caller()),
            hint = 'Drop it as the owner of its function, or as an operator of the namespace.';
    end if;
    select t.name into v_trigger from core.triggers t where t.namespace = p_namespace and t.target = p_key limit 1;
    if found then
        raise exception using errcode = 'NX223', column = 'p_key',
            message = format('trigger %s names handler %s', quote_literal(v_trigger), quote_literal(p_key)),
            hint = 'Delete the triggers that name it, or give them another target.';
    end if;
    delete from core.handlers h where h.namespace = p_namespace and h.key = p_key;
    perform core_private.audit('drop_handler', p_namespace, p_key, null,
        jsonb_strip_nulls(jsonb_build_object('function', v_handler.function, 'url', v_handler.url)));
    return true;
end $$;
comment on function core.drop_handler(text, text) is 'Drops a handler; false if there was none. Deliveries that name it wait, and are parked and given up as all that nobody handles. One in SQL is dropped by the owner of its function, all by operators, one of a node or a workflow by who may consume. Raises 42501, NX006, NX101, NX223, NX401, NX402.';
