create or replace function core_node.claim_these(p_queue text, p_ids bigint[], p_cts integer[], p_lease interval)
returns table (msg_id bigint, read_ct integer, last_read_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := core_private.now();
    v_owner record;
    v_room  record;
    v_ids   bigint[];
    v_cts   integer[];
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    if cardinality(p_ids) is distinct from cardinality(p_cts) then
        raise exception using errcode = 'NX006', column = 'p_cts',
            message = 'p_cts is not as long as p_ids',
            hint = 'This function is for nodes.';
    end if;
    perform core_private.check_lease(p_lease);
    if v_owner.limited and cardinality(p_ids) > 0 then
        select r.* into v_room from core_private.room_for(p_queue, v_owner.consumer_id, cardinality(p_ids)) r;
        v_now := coalesce((v_room.noted).claimed_at, v_now);
        execute format($q$
            select coalesce(array_agg(l.msg_id), '{}'), array_agg(l.read_ct)
              from (select q.msg_id, q.read_ct
                      from unnest($1, $2) u(id, ct)
                      join %s q on q.msg_id = u.id and q.read_ct = u.ct
                     where q.vt <= $3
                     order by q.msg_id limit $4 for update of q skip locked) l
            $q$, core_private.queue_relation(p_queue))
           into v_ids, v_cts
          using p_ids, p_cts, v_now, v_room.room;
        p_ids := v_ids; p_cts := v_cts;
        perform core_private.note_claim(v_room.noted, v_room.every, p_ids);
    end if;
    -- Locked in one order by all who touch several messages, or they deadlock; what somebody else has got
    -- meanwhile is his.
    return query execute format($q$
        with held as materialized (
            select q.ctid as tid
              from unnest($1, $2) u(id, ct)
              join %1$s q on q.msg_id = u.id and q.read_ct = u.ct
             where q.vt <= $3
             order by q.msg_id for update of q skip locked)
        update %1$s q
           set read_ct = q.read_ct + 1, vt = $3 + $4, last_read_at = $3,
               headers = case when q.read_ct > 0 then core_private.counted_headers(q.read_ct, q.headers)
                              else q.headers end
          from held
         where q.ctid = held.tid
        returning q.msg_id, q.read_ct, q.last_read_at
        $q$, core_private.queue_relation(p_queue))
      using p_ids, p_cts, v_now, p_lease;
end $$;
comment on function core_node.claim_these(text, bigint[], integer[], interval) is 'For nodes: leases exactly these messages, as far as they are still due and as often read as p_cts says; for a batch that failed as a whole; of a consumer with limits no more than they leave room for. Raises 55000, NX006, NX103, NX110, NX401, NX402.';
