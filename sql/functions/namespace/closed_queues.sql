create or replace function core_private.closed_queues()
returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_closed text[] := core_private.closed_namespaces();
begin
    if v_closed = '{}' then
        return v_closed;
    end if;
    return array(select q.queue_name from core.queues q where q.namespace = any (v_closed));
end $$;
comment on function core_private.closed_queues() is 'The queues of core_private.closed_namespaces().';
