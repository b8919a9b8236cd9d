create or replace function core_private.secure_queue(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text := (select q.namespace from core.queues q where q.queue_name = p_queue);
begin
    perform core_private.secure_relation(core_private.queue_relation(p_queue), v_namespace);
    perform core_private.secure_relation(format('pgmq.%I', 'a_' || p_queue), v_namespace);
end $$;
comment on function core_private.secure_queue(text) is 'Opens the rows of a registered queue and its archive to those who may see or operate its namespace; safe to run again.';
