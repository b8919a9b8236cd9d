-- In batches, each in the order of the messages. A lease does not protect: whoever holds one hears that it is lost.
create or replace function core.purge_queue(p_queue text, p_confirm text, p_limit integer = 10000)
returns table (removed bigint, in_flight bigint, delayed bigint, parked bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := core_private.now();
    v_owner record;
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'operate');
    if p_confirm is distinct from p_queue then
        raise exception using errcode = 'NX206', column = 'p_confirm',
            message = format('to purge queue %s, p_confirm must repeat its name', quote_literal(p_queue)),
            hint = format('select * from core.purge_queue(%L, %L);', p_queue, p_queue);
    end if;
    perform core_private.check_number(p_limit, 'p_limit', 1, 1000000);
    execute format($q$
        with old as materialized (
            select q.msg_id from %1$s q order by q.msg_id limit $1 for update),
        gone as (
            delete from %1$s q
             using old
             where q.msg_id = old.msg_id
            returning q.vt, q.read_ct, q.headers)
        select count(*),
               count(*) filter (where g.vt > $2 and core_private.is_leased(g.vt, g.read_ct, g.headers))
          from gone g
        $q$, core_private.queue_relation(p_queue))
       into removed, in_flight
      using p_limit, v_now;
    with old as (
        select d.delayed_id
          from core.delayed d
         where d.queue_name = p_queue
         order by d.delayed_id limit greatest(p_limit - removed, 0) for update),
    gone as (
        delete from core.delayed d
         using old
         where d.delayed_id = old.delayed_id
        returning 1)
    select count(*) into delayed from gone;
    perform from core_private.parking k where k.queue_name = p_queue for update;
    with old as (
        select d.event_type, d.msg_id
          from core.parked d
         where d.queue_name = p_queue
         order by d.event_type, d.msg_id limit greatest(p_limit - removed - delayed, 0) for update),
    gone as (
        delete from core.parked d
         using old
         where d.queue_name = p_queue and d.event_type = old.event_type and d.msg_id = old.msg_id
        returning 1)
    select count(*) into parked from gone;
    if removed + delayed + parked > 0 then
        perform core_private.audit('purge_queue', v_owner.namespace, p_queue, null,
            jsonb_build_object('removed', removed, 'in_flight', in_flight, 'delayed', delayed, 'parked', parked));
    end if;
    return next;
end $$;
comment on function core.purge_queue(text, text, integer) is 'Removes up to p_limit messages from a queue for good, those in flight among them, then what is delayed for it or parked; repeat until nothing is removed. Their events stay in the log. On a dead-letter queue it removes copies only, the ledger stays. p_confirm repeats the name. Raises NX006, NX103, NX110, NX206, NX401, NX402.';
