create or replace function core_private.lock_namespace(p_namespace text, p_alone boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name text := 'namespace ' || p_namespace;
begin
    if p_alone then
        perform from core_private.locks l where l.name = v_name for update;
    else
        perform from core_private.locks l where l.name = v_name for share;
    end if;
end $$;
comment on function core_private.lock_namespace(text, boolean) is 'Keeps a namespace from being dropped until the transaction ends, or, alone, nodes from registering in it.';
