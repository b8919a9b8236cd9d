-- Of a consumer with max_in_flight the place of a lease that has ended may be taken. So the clock is read under the
-- lock that claims take, once the rows are locked, and what has ended by then is lost.
create or replace function core_node.extend(
    p_queue text, p_ids bigint[], p_cts integer[], p_ats timestamptz[], p_lease interval)
returns table (msg_id bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_until timestamptz := core_private.now() + least(greatest(p_lease, '0'), '1 day');
    v_kept  bigint[];
    v_owner record;
    v_now   timestamptz;
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    if cardinality(p_ids) is distinct from cardinality(p_cts)
       or cardinality(p_ids) is distinct from cardinality(p_ats) then
        raise exception using errcode = 'NX006',
            column = case when cardinality(p_ids) is distinct from cardinality(p_cts) then 'p_cts' else 'p_ats' end,
            message = 'p_cts and p_ats are not as long as p_ids',
            hint = 'This function is for nodes.';
    end if;
    perform core_private.check_lease(p_lease);
    if v_owner.limited
       and exists (
           select from core.consumers c
            where c.consumer_id = v_owner.consumer_id and c.max_in_flight is not null) then
        perform core_private.hold_leases(core_private.queue_relation(p_queue), p_ids, p_cts, p_ats);
        perform core_private.lock_limits(v_owner.consumer_id);
        v_now := core_private.now();
        v_until := v_now + p_lease;
    end if;
    -- Locked in one order by all who touch several messages, or they deadlock.
    execute format($q$
        with held as materialized (
            select q.ctid as tid
              from unnest($1, $2, $4) u(id, ct, at)
              join %1$s q on q.msg_id = u.id and q.read_ct = u.ct and q.last_read_at = u.at
             order by q.msg_id for update of q),
        kept as (
            update %1$s q
               set vt = $3 from held
             where q.ctid = held.tid%2$s
            returning q.msg_id)
        select array_agg(k.msg_id) from kept k
        $q$, core_private.queue_relation(p_queue), case when v_now is not null then ' and q.vt > $5' end)
       into v_kept
      using p_ids, p_cts, v_until, p_ats, v_now;
    return query select i from unnest(p_ids) i where i <> all (coalesce(v_kept, '{}'));
end $$;
comment on function core_node.extend(text, bigint[], integer[], timestamptz[], interval) is 'For nodes: renews leases; returns those that were lost; of a consumer with max_in_flight those too that have ended. Raises NX006, NX103, NX110, NX401, NX402.';
