create or replace function core_node.look_ordered(p_namespace text, p_consumer text, p_wait interval)
returns interval
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now      timestamptz := core_private.now();
    v_consumer core.consumers;
    v_due      timestamptz;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    v_consumer := core_private.ordered_named(p_namespace, p_consumer);
    perform core_node.wait_for_wake(array[core_private.outbox_key(p_namespace, p_consumer)], p_wait);
    v_due := (
        select min(w.next_at)
          from core_private.lanes_with_work(
                   v_consumer.consumer_id, v_consumer.generation, false,
                   core_private.lanes_to_ask(v_consumer.consumer_id, v_consumer.generation, v_consumer.lanes)) w);
    return case
        when v_due <= v_now then interval '0'
        when v_due < v_now + interval '1 day' then v_due - v_now end;
end $$;
comment on function core_node.look_ordered(text, text, interval) is 'core_node.look for an ordered consumer. Raises NX006, NX101, NX103, NX401, NX402.';
