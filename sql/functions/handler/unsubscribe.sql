create or replace function core.unsubscribe(p_namespace text, p_consumer text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id      integer;
    v_handler core_private.sql_handlers;
    v_open    boolean;
begin
    perform core_private.require_consuming(p_namespace);
    select n.restricted into v_open from core.namespaces n where n.namespace = p_namespace;
    perform core_private.refuse_borrowed_session();
    select c.consumer_id
      into v_id
      from core.consumers c
     where c.namespace = p_namespace and c.name = p_consumer;
    select * into v_handler from core_private.sql_handlers h where h.consumer_id = v_id for update;
    if not found then
        return false;
    elsif not pg_has_role(core_private.caller(), v_handler.owner, 'member')
          and not core_private.has_duty(p_namespace, 'operate', v_open) then
        raise exception using errcode = 'insufficient_privilege', column = 'p_consumer',
            message = format('the handler %s belongs to %s, and this is %I',
                             v_handler.function, v_handler.owner, core_private.caller()),
            hint = format('Unsubscribe it as %s, or as an operator of the namespace.', v_handler.owner);
    end if;
    delete from core_private.sql_handlers h where h.consumer_id = v_id;
    perform core_private.audit('unsubscribe', p_namespace, p_consumer, null,
        jsonb_build_object('function', v_handler.function, 'owner', v_handler.owner));
    return true;
end $$;
comment on function core.unsubscribe(text, text) is 'Takes the SQL handler from a consumer, for its owner and operators; false if it had none. The consumer goes on getting its events, which wait: drop it by core.drop_consumer, or subscribe another function. Raises 42501, NX101, NX401, NX402.';
