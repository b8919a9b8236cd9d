create or replace function core_node.settle_and_claim(
    p_queue text, p_node text, p_ack_ids bigint[], p_ack_cts integer[], p_ack_ats timestamptz[], p_failed jsonb,
    p_types text[], p_max_attempts integer[], p_limit integer, p_lease interval,
    p_floor bigint = 0, p_window integer = null, p_sweep boolean = false, p_alone boolean = true,
    p_floors bigint[] = null)
returns table (
    outcome text, msg_id bigint, read_ct integer, message jsonb, headers jsonb,
    scanned_to bigint, last_read_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
        select s.outcome, s.msg_id, null::integer, null::jsonb, null::jsonb, null::bigint, null::timestamptz
          from core_private.settle_results(p_queue, p_node, p_ack_ids, p_ack_cts, p_ack_ats, p_failed, false) s;
    return query
        select *
          from core_node.claim(
                   p_queue, p_types, p_max_attempts, p_limit, p_lease, p_floor, p_window, p_sweep, p_alone, p_floors);
end $$;
comment on function core_node.settle_and_claim(text, text, bigint[], integer[], timestamptz[], jsonb, text[], integer[], integer, interval, bigint, integer, boolean, boolean, bigint[]) is 'core_node.settle, then core_node.claim, in one round trip; the columns are those of core_node.claim.';
