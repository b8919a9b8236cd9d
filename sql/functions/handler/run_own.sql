create or replace function core_node.run_own(
    p_consumer_id integer, p_ids bigint[], p_cts integer[], p_ats timestamptz[], p_for interval = '1 second',
    out handled integer, out retried integer, out buried integer, out released integer, out lost integer)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_own_handler(p_consumer_id, 'core_node.run_own');
    select r.handled, r.retried, r.buried, r.released, r.lost
      into handled, retried, buried, released, lost
      from core_private.run_handler(p_consumer_id, session_user, p_ids, p_cts, p_ats, p_for, session_user::regrole) r;
end $$;
comment on function core_node.run_own(integer, bigint[], integer[], timestamptz[], interval) is 'For nexus-node work: calls the SQL handlers of a consumer, which the session user owns, for what core_node.claim_own leased, and settles it in the same transaction. After p_for the rest is given back. lost: leases that ended before, which somebody else has. The session is left with another search_path. Raises 42501, 55000, 57014, NX101, NX301, NX401, NX402 and as core_node.settle_batch.';
