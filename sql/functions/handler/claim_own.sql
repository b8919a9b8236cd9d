-- What these handlers leave in the session runs with the rights that its user has anyhow. The claim is committed before
-- they run, unlike that of core.work, so a death is counted.
create or replace function core_node.claim_own(p_namespace text, p_limit integer = 50)
returns table (
    consumer_id integer, queue_name text, ids bigint[], cts integer[], ats timestamptz[], within interval,
    buried integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_floor   bigint;
    v_at_hand integer[];
    v_run     record;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    perform core_private.refuse_borrowed_session();
    perform core_private.require_read_committed('core_node.claim_own');
    v_floor := case when pg_current_xact_id_if_assigned() is null
                    then coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0) end;
    v_at_hand := array(
        select w.consumer_id from core_private.sql_work(p_namespace, session_user::regrole) w order by random());
    foreach consumer_id in array v_at_hand loop
        select coalesce(c.queue_name, core_private.outbox_key(c.namespace, c.name))
          into queue_name
          from core.consumers c
         where c.consumer_id = claim_own.consumer_id;
        continue when not found or not core_private.sql_due(claim_own.consumer_id, queue_name);
        select * into v_run from core_private.keys_to_run(claim_own.consumer_id, session_user::regrole, true);
        continue when v_run.keys is null or not core_private.sql_due(claim_own.consumer_id, queue_name, v_run.keys);
        select c.ids, c.cts, c.ats, c.buried, c.within
          into ids, cts, ats, buried, within
          from core_private.claim_for_sql(
                   claim_own.consumer_id, session_user::regrole, v_run.keys, p_limit,
                   v_run.longest + interval '1 minute', v_floor, true) c;
        if ids is not null or buried > 0 then
            return next;
            return;
        end if;
    end loop;
end $$;
comment on function core_node.claim_own(text, integer) is 'For nexus-node work: leases due deliveries of one consumer of the namespace whose SQL handler the session user owns, for core_node.run_own once that is committed. One row with their fences, how long a call may take, and how many were buried in place of it; none where nothing is due. Raises 42501, 55000, NX101, NX401, NX402 and as core_node.claim.';
