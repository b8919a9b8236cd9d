create or replace function core_node.settle(
    p_queue text, p_node text, p_ack_ids bigint[], p_ack_cts integer[], p_ack_ats timestamptz[],
    p_failed jsonb = '[]')
returns table (outcome text, msg_id bigint, due_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
        select *
          from core_private.settle_results(p_queue, p_node, p_ack_ids, p_ack_cts, p_ack_ats, p_failed, false);
end $$;
comment on function core_node.settle(text, text, bigint[], integer[], timestamptz[], jsonb) is 'For nodes: the whole outcome of a batch in one call. Acks, and in p_failed what was not done, as {id, ct, at, action, after, policy, reason, error}: the action retry (after NULL: by policy), reject or release. Each is fenced by (msg_id, read_ct, last_read_at). Returns what was not simply acked: retried, buried, released, lost (another holds it), gone. Sent again, a result is answered as before and changes nothing. Raises NX005, NX006, NX007, NX103, NX110, NX401, NX402.';
