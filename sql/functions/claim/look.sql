-- One small statement for a queue on which a node has nothing to do, in place of a claim for each of
-- its handlers' modes.
create or replace function core_node.look(p_queue text, p_wait interval)
returns interval
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_now timestamptz := core_private.now();
    v_due timestamptz;
begin
    perform core_private.queue_owner(p_queue, 'consume');
    perform core_node.wait_for_wake(array[p_queue], p_wait);
    execute format('select q.vt from %s q order by q.vt limit 1', core_private.queue_relation(p_queue)) into v_due;
    return case
        when v_due <= v_now then interval '0'
        when v_due < v_now + interval '1 day' then v_due - v_now end;
end $$;
comment on function core_node.look(text, interval) is 'For nodes that found nothing: waits for wake-ups for p_wait, as core_node.wait_for_wake, and returns how long it is until the next message of the queue is due: 0 if one is, whatever its type; NULL if none is within a day. Raises NX006, NX103, NX110, NX401, NX402.';
