create or replace function core_node.fail_own(
    p_consumer_id integer, p_ids bigint[], p_cts integer[], p_ats timestamptz[], p_error text)
returns table (outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_own_handler(p_consumer_id, 'core_node.fail_own');
    return query
        select f.outcome
          from core_private.fail_claimed(
                   p_consumer_id, session_user, p_ids, p_cts, p_ats, 'commit', core_private.clean_text(p_error)) f;
end $$;
comment on function core_node.fail_own(integer, bigint[], integer[], timestamptz[], text) is 'For nexus-node work: settles what core_node.claim_own leased as failed, where the transaction of core_node.run_own could not be committed, and says what became of it: retried, halted, buried or lost. Raises 42501, 55000, NX101, NX401, NX402 and as core_node.settle.';
