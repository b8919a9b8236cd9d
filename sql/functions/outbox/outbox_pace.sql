create or replace function core_node.outbox_pace(
    p_namespace text, p_queue text, out profile text, out wake_key text)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_id integer;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    select o.consumer_id into v_id from core_private.outbox_named(p_namespace, p_queue) o;
    select q.profile into profile from core_private.outbox_queues q where q.consumer_id = v_id;
    wake_key := core_private.outbox_key(p_namespace, p_queue);
end $$;
comment on function core_node.outbox_pace(text, text) is 'For nodes: how processors of an outbox queue pace themselves, and the key by which they are woken. Raises NX101, NX115, NX401, NX402.';
