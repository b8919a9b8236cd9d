-- A handler that may not be called leaves its deliveries where they are.
create or replace function core_private.keys_to_run(
    p_consumer_id integer, p_owner oid, p_warn boolean, out keys text[], out longest interval)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_handler core_private.sql_handlers;
    v_trouble record;
    v_key     text;
begin
    for v_key in
        select '*' from core_private.sql_handlers h where h.consumer_id = p_consumer_id and h.owner = p_owner
        union all
        (select h.key
           from core.consumers c
           join core.handlers h on h.namespace = c.namespace and h.owner = p_owner
          where c.consumer_id = p_consumer_id and c.routed
          order by h.key)
    loop
        v_handler := core_private.sql_handler(p_consumer_id, p_owner, v_key);
        if p_warn then
            select * into v_trouble from core_private.handler_trouble(v_handler.function, v_handler.owner);
            if v_trouble.what is not null then
                raise warning using errcode = 'NX015', message = v_trouble.what, hint = v_trouble.mend;
                continue;
            end if;
        else
            continue when not core_private.may_run(v_handler);
        end if;
        keys := keys || v_key;
        longest := greatest(longest, v_handler.timeout);
    end loop;
end $$;
comment on function core_private.keys_to_run(integer, oid, boolean) is 'What the SQL handlers of an owner that may be called take of a consumer: patterns for a claim, NULL if nothing, and the longest of their timeouts. With p_warn it is the owner who asks, and is told which may not be called.';
