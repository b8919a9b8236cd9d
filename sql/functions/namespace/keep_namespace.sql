-- Of a namespace without a queue that the event goes to, whoever drops it would otherwise not see the event.
create or replace function core_private.keep_namespace(p_namespace text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform from core.namespaces n where n.namespace = p_namespace for key share;
    if not found then
        perform core_private.fail_unknown_namespace(p_namespace);
    end if;
end $$;
comment on function core_private.keep_namespace(text) is 'Waits for whoever drops the namespace, and keeps others from it until the transaction ends. Raises NX101.';
