-- Who is first is drawn by lot; then they take turns, so that one whose handlers are slow holds up nobody. 
create or replace function core_node.claim_sql(
    p_namespace text = null, p_owner oid = null, p_limit integer = 50, p_after integer = null)
returns table (
    consumer_id integer, owner oid, ids bigint[], cts integer[], ats timestamptz[], within interval, buried integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_floor bigint;
    v_work  record;
    v_run   record;
begin
    perform core_private.require_sql_login('core_node.claim_sql');
    perform core_private.refuse_used_transaction();
    v_floor := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    for v_work in
        select w.consumer_id, w.queue_name, w.owner
          from core_private.sql_work(p_namespace, p_owner) w
         order by w.consumer_id <= p_after, case when p_after is null then random() end, w.consumer_id, random()
    loop
        continue when not core_private.sql_due(v_work.consumer_id, v_work.queue_name);
        consumer_id := v_work.consumer_id; owner := v_work.owner;
        select * into v_run from core_private.keys_to_run(v_work.consumer_id, v_work.owner, false);
        continue when v_run.keys is null or not core_private.sql_due(
                                                v_work.consumer_id, v_work.queue_name, v_run.keys);
        perform core_private.act_for(owner);
        select c.ids, c.cts, c.ats, c.buried, c.within
          into ids, cts, ats, buried, within
          from core_private.claim_for_sql(
                   v_work.consumer_id, v_work.owner, v_run.keys, p_limit, v_run.longest + interval '1 minute',
                   v_floor, false) c;
        perform core_private.act_for(null);
        if ids is not null or buried > 0 then
            return next;
            return;
        end if;
    end loop;
end $$;
comment on function core_node.claim_sql(text, oid, integer, integer) is 'For nexus_sql: leases due deliveries of one consumer whose SQL handler may run, in that namespace or in any, of that owner or of any. p_after is the consumer that came last, after which the others have their turn; NULL: one is drawn by lot. One row with their fences, how long a call may take, and how many were buried in place of it; none where nothing is due. Raises 25001, 55000, NX401 and as core_node.claim.';
