-- All or nothing: a message that somebody else got hold of means that the effects of the batch may not commit.
create or replace function core_node.settle_batch(
    p_queue text, p_node text, p_marker bigint, p_ack_ids bigint[], p_ack_cts integer[], p_ack_ats timestamptz[],
    p_failed jsonb = '[]')
returns table (outcome text, msg_id bigint, due_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_lost integer := 0;
begin
    for outcome, msg_id, due_at in
        select *
          from core_private.settle_results(
                   p_queue, p_node, p_ack_ids, p_ack_cts, p_ack_ats, p_failed, p_marker is not null)
    loop
        if outcome in ('lost', 'gone') then
            v_lost := v_lost + 1;
        end if;
        return next;
    end loop;
    if v_lost > 0 then
        raise exception using errcode = 'NX301', column = 'p_ack_cts',
            message = format('%s messages of a batch of %s are lost', v_lost, p_queue),
            detail = 'Somebody else took them, or they are already settled.',
            hint = 'Roll back: what was done for this batch is done again.';
    end if;
    if p_marker is not null then
        delete from core_private.express_batches b where b.queue_name = p_queue and b.marker_id = p_marker;
    end if;
end $$;
comment on function core_node.settle_batch(text, text, bigint, bigint[], integer[], timestamptz[], jsonb) is 'For nodes: settles a batch inside the transaction of its handlers, as core_node.settle does. p_marker is that of an express batch, whose failures count as read only now, or NULL under leases. Returns what was not simply acked: retried, buried, released. Raises NX005, NX006, NX007, NX103, NX110, NX301, NX401, NX402.';
