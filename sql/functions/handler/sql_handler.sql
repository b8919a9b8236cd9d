-- A consumer that is not routed has one at most, whatever the key and the owner.
create or replace function core_private.sql_handler(p_consumer_id integer, p_owner oid, p_key text)
returns core_private.sql_handlers
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_handler core_private.sql_handlers;
begin
    select h.* into v_handler from core_private.sql_handlers h where h.consumer_id = p_consumer_id;
    if not found then
        select c.consumer_id, h.function, h.owner,
               coalesce((h.settings ->> 'timeout')::interval, interval '30 seconds'), h.created_by, h.created_at
          into v_handler
          from core.consumers c
          join core.handlers h on h.namespace = c.namespace and h.key = p_key
         where c.consumer_id = p_consumer_id and c.routed and h.kind = 'sql' and h.owner = p_owner;
    end if;
    return v_handler;
end $$;
comment on function core_private.sql_handler(integer, oid, text) is 'The SQL handler of a consumer; of a routed one that of this key, if it is of this owner. A row of NULLs if there is none.';
