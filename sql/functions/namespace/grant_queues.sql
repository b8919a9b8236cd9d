create or replace function core_private.grant_queues(p_namespace text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
begin
    for v_queue in select q.queue_name from core.queues q where q.namespace = p_namespace order by q.queue_name loop
        perform core_private.grant_queue(v_queue);
    end loop;
end $$;
comment on function core_private.grant_queues(text) is 'Calls core_private.grant_queue for each queue of a namespace.';
