create or replace function core_private.lock_trigger(p_namespace text, p_name text)
returns core.triggers
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_trigger core.triggers;
begin
    perform core_private.require_trigger_duty(
        p_namespace,
        (select t.kind from core.triggers t where t.namespace = p_namespace and t.name = p_name));
    perform core_private.refuse_borrowed_session();
    perform core_private.lock_namespace(p_namespace, false);
    perform from core.namespaces n where n.namespace = p_namespace for no key update;
    select * into v_trigger from core.triggers t where t.namespace = p_namespace and t.name = p_name for update;
    if not found then
        raise exception using errcode = 'NX114', column = 'p_name',
            message = format('namespace %s has no trigger %s', quote_literal(p_namespace),
                             coalesce(quote_literal(left(p_name, 150)), 'NULL')),
            hint = 'core.trigger_status has them.';
    end if;
    return v_trigger;
end $$;
comment on function core_private.lock_trigger(text, text) is 'A trigger, whose row is locked, for who has a duty of its kind. Raises 42501, NX101, NX114, NX401, NX402.';
