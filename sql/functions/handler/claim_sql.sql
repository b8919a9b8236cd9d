-- Who is first is drawn by lot; then they take turns, so that one whose handlers are slow holds up nobody. A lease
-- outlasts one call; the others of a batch are held by their locks.
create or replace function core_node.claim_sql(
    p_namespace text = null, p_owner oid = null, p_limit integer = 50, p_after integer = null)
returns table (
    consumer_id integer, owner oid, ids bigint[], cts integer[], ats timestamptz[], within interval, buried integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_at_hand  integer[];
    v_handler  core_private.sql_handlers;
    v_consumer core.consumers;
begin
    perform core_private.require_sql_login('core_node.claim_sql');
    perform core_private.refuse_used_transaction();
    v_at_hand := array(
        select h.consumer_id
          from core_private.sql_handlers h
          join core.consumers c on c.consumer_id = h.consumer_id
         where c.state = 'active' and (p_namespace is null or c.namespace = p_namespace)
           and (p_owner is null or h.owner = p_owner)
         order by h.consumer_id <= p_after, case when p_after is null then random() end, h.consumer_id);
    foreach consumer_id in array v_at_hand loop
        select * into v_consumer from core.consumers c where c.consumer_id = claim_sql.consumer_id;
        continue when not found or not core_private.is_due(v_consumer.queue_name);
        select * into v_handler from core_private.sql_handlers h where h.consumer_id = claim_sql.consumer_id;
        continue when not found or not core_private.may_run(v_handler);
        owner := v_handler.owner; within := v_handler.timeout;
        perform core_private.act_for(owner);
        select c.ids, c.cts, c.ats, c.buried
          into ids, cts, ats, buried
          from core_private.claim_handler(claim_sql.consumer_id, p_limit, v_handler.timeout + interval '1 minute') c;
        perform core_private.act_for(null);
        if ids is not null or buried > 0 then
            return next;
            return;
        end if;
    end loop;
end $$;
comment on function core_node.claim_sql(text, oid, integer, integer) is 'For nexus_sql: leases due deliveries of one consumer whose SQL handler may run, in that namespace or in any, of that owner or of any. p_after is the consumer that came last, after which the others have their turn; NULL: one is drawn by lot. One row with their fences, how long a call may take, and how many were buried in place of it; none where nothing is due. Raises 25001, 55000, NX401 and as core_node.claim.';
