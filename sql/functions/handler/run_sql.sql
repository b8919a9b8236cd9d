create or replace function core_node.run_sql(
    p_consumer_id integer, p_runner text, p_ids bigint[], p_cts integer[], p_ats timestamptz[],
    p_for interval = '1 second', p_owner oid = null,
    out handled integer, out retried integer, out buried integer, out released integer, out lost integer)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_owner oid := core_private.sql_owner(p_consumer_id, p_owner);
begin
    perform core_private.require_sql_login('core_node.run_sql');
    perform core_private.refuse_used_transaction();
    perform core_private.act_for(v_owner);
    select r.handled, r.retried, r.buried, r.released, r.lost
      into handled, retried, buried, released, lost
      from core_private.run_handler(p_consumer_id, p_runner, p_ids, p_cts, p_ats, p_for, v_owner) r;
    perform core_private.act_for(null);
end $$;
comment on function core_node.run_sql(integer, text, bigint[], integer[], timestamptz[], interval, oid) is 'For nexus_sql: calls the SQL handlers of a consumer, of a routed one those of p_owner, for what core_node.claim_sql leased, and settles it in the same transaction. After p_for the rest is given back. lost: leases that ended before, which somebody else has. Raises 25001, 55000, NX401, 57014, NX301 and as core_node.settle_batch.';
