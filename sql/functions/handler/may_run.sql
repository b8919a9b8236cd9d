create or replace function core_private.may_run(p_handler core_private.sql_handlers)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_owner name := (select r.rolname from pg_roles r where r.oid = p_handler.owner);
    v_may   boolean;
begin
    if v_owner is null
       or (core_private.handler_trouble(p_handler.function, p_handler.owner)).what is not null then
        return false;
    end if;
    select core_private.has_duty(n.namespace, 'consume', n.restricted, v_owner)
      into v_may
      from core.consumers c
      join core.namespaces n on n.namespace = c.namespace
     where c.consumer_id = p_handler.consumer_id;
    return coalesce(v_may, false);
end $$;
comment on function core_private.may_run(core_private.sql_handlers) is 'Whether an SQL handler may be called, and its owner may consume the events of the namespace.';
