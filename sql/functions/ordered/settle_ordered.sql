create or replace function core_node.settle_ordered(p_node text, p_results jsonb, p_all boolean = false)
returns table (outcome text, message_id bigint, due_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_ordered_results(p_results);
    return query select s.* from core_private.settle_heads(p_node, p_results, p_all, core_private.now()) s;
end $$;
comment on function core_node.settle_ordered(text, jsonb, boolean) is 'For nodes, which call it in the transaction of handlers as well: what became of events that core_node.claim_ordered gave, an array of {lane, token, seq, id, action, after, policy, reason, error}. The action is ack, retry (after NULL: by policy), reject or release. The lanes are free then. Returns what was not simply acknowledged: retried, halted (its attempts are used up, and its lane stands at it), buried, released, lost (another holds the lane), gone (it was settled before). With p_all all are held or nothing is settled. Raises NX005, NX006, NX007, NX301, NX401, NX402.';
