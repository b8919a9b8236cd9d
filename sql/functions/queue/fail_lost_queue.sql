create or replace function core_private.fail_lost_queue(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text := (select q.namespace from core.queues q where q.queue_name = p_queue);
begin
    raise exception using errcode = 'NX110', column = 'p_namespace',
        message = format('queue tables of namespace %s are missing', quote_nullable(v_namespace)),
        detail = format('Queue %s is registered and has no table.', p_queue),
        hint = format('select core.create_namespace(%L); or: nexus-node doctor --fix', v_namespace);
end $$;
comment on function core_private.fail_lost_queue(text) is 'Says that a registered queue has lost its table. Raises NX110.';
