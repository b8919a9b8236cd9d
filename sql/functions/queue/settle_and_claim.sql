create or replace function core.settle_and_claim(
    p_queue text, p_node text, p_ack_ids bigint[], p_ack_cts integer[], p_ids bigint[], p_cts integer[], p_actions text[], p_afters interval[],
    p_policies jsonb[], p_reasons text[], p_errors text[],
    p_types text[], p_max_attempts integer[], p_limit integer, p_lease interval, p_floor bigint = 0, p_window integer = null, p_sweep boolean = false)
returns table (outcome text, msg_id bigint, read_ct integer, message jsonb, headers jsonb, scanned_to bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query select s.outcome, s.msg_id, null::integer, null::jsonb, null::jsonb, null::bigint
        from core.settle(p_queue, p_node, p_ack_ids, p_ack_cts, p_ids, p_cts, p_actions, p_afters, p_policies, p_reasons, p_errors) s;
    return query select * from core.claim(p_queue, p_types, p_max_attempts, p_limit, p_lease, p_floor, p_window, p_sweep);
end $$;
comment on function core.settle_and_claim(text, text, bigint[], integer[], bigint[], integer[], text[], interval[], jsonb[], text[], text[], text[], integer[], integer, interval, bigint, integer, boolean) is 'core.settle, then core.claim, in one round trip; the columns are those of core.claim.';
