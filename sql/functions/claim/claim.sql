-- See find_due for what is looked at. Deliveries whose attempts are used up (their process died each time) and messages
-- that are no envelope are buried before any handler sees them. Of suspects a claim takes the first, and only with
-- p_alone, which a node gives when it has none in hand.
create or replace function core_node.claim(
    p_queue text, p_types text[], p_max_attempts integer[], p_limit integer, p_lease interval,
    p_floor bigint = 0, p_window integer = null, p_sweep boolean = false, p_alone boolean = true,
    p_floors bigint[] = null)
returns table (
    outcome text, msg_id bigint, read_ct integer, message jsonb, headers jsonb,
    scanned_to bigint, last_read_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := core_private.now();
    v_owner record;
    v_due   record;
    v_alone tid;
    v_take  tid[];
    v_asked integer := p_limit;
    v_room  record;
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    perform core_private.check_claim(p_queue, v_owner.consumer_id, p_types, p_max_attempts, p_limit, 0);
    perform core_private.check_lease(p_lease);
    if p_limit = 0 or v_owner.state <> 'active' or coalesce(cardinality(p_types), 0) = 0 then
        outcome := 'window'; read_ct := 0;
        return next;
        return;
    end if;
    if v_owner.limited then
        select r.* into v_room from core_private.room_for(p_queue, v_owner.consumer_id, p_limit) r;
        p_limit := v_room.room;
        if p_limit = 0 then
            return query select h.* from core_private.held_back(0, v_room.held_by, v_room.noted, v_room.every, 0) h;
            outcome := 'window'; read_ct := 0;
            return next;
            return;
        end if;
        v_now := (v_room.noted).claimed_at;
    end if;
    if p_floors is null then
        select *
          into v_due
          from core_private.find_due(
                   p_queue, 'lease', p_types, p_max_attempts,
                   core_private.max_attempts(v_owner.consumer_retry, v_owner.namespace_retry),
                   p_limit, p_floor, p_window, p_sweep, v_now);
    else
        select *
          into v_due
          from core_private.find_due_by_level(
                   p_queue, 'lease', p_types, p_max_attempts,
                   core_private.max_attempts(v_owner.consumer_retry, v_owner.namespace_retry),
                   p_limit, p_floors, p_window, v_now);
    end if;
    if v_owner.routed then
        select j.tids, j.alone_tids, j.alone_ids, j.dead_ids, j.dead_cts, j.dead_reasons
          into v_due.tids, v_due.alone_tids, v_due.alone_ids, v_due.dead_ids, v_due.dead_cts, v_due.dead_reasons
          from core_private.judge_deliveries(
                   p_queue, v_owner.namespace, v_now, v_due.tids, v_due.alone_tids, v_due.alone_ids,
                   v_due.dead_ids, v_due.dead_cts, v_due.dead_reasons) j;
    end if;
    if p_alone then
        v_alone := v_due.alone_tids[1];
    end if;
    v_take := case when v_alone is null then v_due.tids[:p_limit] else v_alone || v_due.tids[:p_limit - 1] end;
    if v_owner.limited then
        perform core_private.note_claim(v_room.noted, v_room.every, core_private.ids_at(p_queue, v_take));
    end if;
    return query execute core_private.lease_sql(core_private.queue_relation(p_queue), v_alone is not null)
      using v_now, p_lease, v_take, v_alone;
    if p_limit < v_asked then
        return query
            select h.*
              from core_private.held_back(
                       p_limit, v_room.held_by, v_room.noted, v_room.every, cardinality(v_take)) h;
    end if;
    if cardinality(v_due.alone_ids) > (v_alone is not null)::integer then
        outcome := 'alone';
        read_ct := cardinality(v_due.alone_ids) - (v_alone is not null)::integer;
        msg_id := (select min(i) from unnest(v_due.alone_ids[1 + (v_alone is not null)::integer:]) i);
        return next;
        msg_id := null;
    end if;
    outcome := 'window'; read_ct := v_due.looked; scanned_to := v_due.scanned_to;
    headers := v_owner.levels::text::jsonb;
    return next;
    if p_floors is not null or v_due.dead_ids is not null then
        return query
            select 'level'::text, null::bigint, l.looked, null::jsonb, null::jsonb, l.scanned, null::timestamptz
              from unnest(v_due.level_looked, v_due.level_scanned) l(looked, scanned);
        return query
            select 'buried'::text, b.msg_id, b.read_ct, null::jsonb, null::jsonb, null::bigint, null::timestamptz
              from core_private.bury_found(
                       p_queue, v_owner.namespace, v_owner.consumer,
                       v_due.dead_ids, v_due.dead_cts, v_due.dead_reasons, v_now) b;
    end if;
end $$;
comment on function core_node.claim(text, text[], integer[], integer, interval, bigint, integer, boolean, boolean, bigint[]) is 'For nodes: leases up to p_limit due deliveries of the types given (patterns; p_max_attempts is parallel, -1 never, 0 or NULL the consumer''s). Of those that were read and never answered it takes one, none unless p_alone. Rows claimed and buried, alone (the lowest of those left for that reason, their number in read_ct), and one row window with what was looked at: scanned_to, and the number of rows in read_ct, which is p_window or more where more may lie beyond scanned_to; headers of the window is how many levels the consumer has. For one with levels p_floors has the floor of each, in the order in which to look, in place of p_floor and p_sweep, and there is a row level, as the window, for each that was looked at. Where max_in_flight or rate of the consumer leave room for fewer than p_limit there is a row limited: see core_private.held_back. The fence is (msg_id, read_ct, last_read_at). Raises 55000, NX006, NX103, NX110, NX401, NX402.';
