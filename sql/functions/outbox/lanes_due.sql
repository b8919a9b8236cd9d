create or replace function core_node.lanes_due(p_namespace text, p_queue text)
returns table (lane_id integer, lane integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := core_private.now();
    v_queue record;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    select * into v_queue from core_private.outbox_named(p_namespace, p_queue);
    return query
        select w.lane_id, w.lane
          from core_private.lanes_with_work(
                   v_queue.consumer_id, v_queue.generation, false,
                   core_private.lanes_to_ask(v_queue.consumer_id, v_queue.generation, v_queue.lanes)) w
         where w.next_at <= v_now
         order by w.next_at, random();
end $$;
comment on function core_node.lanes_due(text, text) is 'For nodes: the lanes of an outbox queue that nobody holds and that may have messages that are due. Raises NX101, NX115, NX401, NX402.';
