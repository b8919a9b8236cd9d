create or replace function core_node.fail_sql(
    p_consumer_id integer, p_runner text, p_ids bigint[], p_cts integer[], p_ats timestamptz[],
    p_reason text, p_error text, p_owner oid = null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_sql_login('core_node.fail_sql');
    perform core_private.refuse_used_transaction();
    perform core_private.act_for(core_private.sql_owner(p_consumer_id, p_owner));
    perform from core_private.fail_claimed(p_consumer_id, p_runner, p_ids, p_cts, p_ats, p_reason, p_error);
    perform core_private.act_for(null);
end $$;
comment on function core_node.fail_sql(integer, text, bigint[], integer[], timestamptz[], text, text, oid) is 'For nexus_sql: settles what core_node.claim_sql leased as failed, where the transaction of core_node.run_sql could not be committed. Raises 25001, 55000, NX401 and as core_node.settle.';
