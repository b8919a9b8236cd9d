-- core_node.claim for batches that share a transaction: see find_due for what is looked at and how it is locked.
--
-- Under a lease whatever may have killed a process goes alone, so that its next death counts for nothing else. Of these
-- only the first is taken, with p_alone; what dies in company is given that read back when it is claimed again. In
-- express, which writes nothing here, the headers that are returned say so, and whoever settles writes it.
--
-- What the planner is kept from it may have to do all the same, at a price that would have the small statements below
-- compiled each time.
create or replace function core_node.claim_batch(
    p_queue text, p_types text[], p_max_attempts integer[], p_limit integer, p_at_least integer = 1,
    p_floor bigint = 0, p_window integer = null, p_sweep boolean = false,
    p_key bigint = null, p_within interval = null, p_lease interval = null, p_alone boolean = true,
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
    v_now     timestamptz := core_private.now();
    v_owner   record;
    v_due     record;
    v_trouble boolean := false;
    v_alone   tid;
    v_take    tid[];
    v_asked   integer := p_limit;
    v_room    record;
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    perform core_private.check_claim(p_queue, v_owner.consumer_id, p_types, p_max_attempts, p_limit, 1);
    if p_at_least is null or p_at_least > p_limit then
        raise exception using errcode = 'NX006', column = 'p_at_least',
            message = format('p_at_least cannot be %s', coalesce(p_at_least::text, 'NULL')),
            hint = 'It is p_limit or less.';
    elsif (p_lease is null) = (p_key is null) or (p_key is null) <> (p_within is null) then
        raise exception using errcode = 'NX006', column = 'p_lease',
            message = 'a batch is claimed under p_lease, or with p_key and p_within',
            hint = 'This function is for nodes; see its comment.';
    elsif p_within <= interval '0' or p_within > interval '10 minutes' then
        raise exception using errcode = 'NX006', column = 'p_within',
            message = format('p_within cannot be %s', p_within),
            hint = 'It is more than 0 and at most 10 minutes.';
    elsif p_lease is not null then
        perform core_private.check_lease(p_lease);
    end if;
    if p_key is not null then
        -- A process that freezes keeps nobody waiting for longer than this.
        perform set_config(
                    s.name,
                    (extract(epoch from least(nullif(current_setting(s.name)::interval, '0'), p_within))
                     * 1000)::bigint::text,
                    true)
           from unnest(array['idle_in_transaction_session_timeout', 'statement_timeout']) s(name);
    else
        v_trouble := core_private.express_trouble(p_queue);
        if not v_trouble and not v_owner.limited then
            outcome := 'quiet';
            return next;
        end if;
    end if;
    if v_owner.state <> 'active' or coalesce(cardinality(p_types), 0) = 0 then
        outcome := 'window'; read_ct := 0;
        return next;
        return;
    end if;

    -- Of a limited consumer an express batch comes to nothing: core_node.open_express says leases.
    if v_owner.limited and p_lease is not null then
        select r.* into v_room from core_private.room_for(p_queue, v_owner.consumer_id, p_limit) r;
        p_limit := v_room.room;
        if p_limit = 0 then
            return query select h.* from core_private.held_back(0, v_room.held_by, v_room.noted, v_room.every, 0) h;
            outcome := 'window'; read_ct := 0;
            return next;
            return;
        end if;
        p_at_least := least(p_at_least, p_limit);
        v_now := (v_room.noted).claimed_at;
    end if;

    if p_floors is null then
        select *
          into v_due
          from core_private.find_due(
                   p_queue, case when p_lease is null then 'express' when v_trouble then 'trouble' else 'batch' end,
                   p_types, p_max_attempts,
                   core_private.max_attempts(v_owner.consumer_retry, v_owner.namespace_retry),
                   p_limit, p_floor, p_window, p_sweep, v_now);
    else
        select *
          into v_due
          from core_private.find_due_by_level(
                   p_queue, case when p_lease is null then 'express' when v_trouble then 'trouble' else 'batch' end,
                   p_types, p_max_attempts,
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
    if v_due.due < p_at_least then
        v_due.tids := null; v_due.alone_tids := null; v_due.alone_ids := null;
    elsif p_alone then
        v_alone := v_due.alone_tids[1];
    end if;
    -- Locked, so they are still in their places.
    if p_lease is null then
        -- offset 0, or the planner walks the index that gives the order.
        return query execute format($q$
            select 'claimed'::text, l.*, null::bigint, null::timestamptz
              from (select q.msg_id, q.read_ct, q.message,
                           case when q.read_ct > 0 then core_private.counted_headers(q.read_ct, q.headers)
                                else q.headers end
                      from %s q
                     where q.ctid = any ($1)
                    offset 0) l
             order by l.msg_id
            $q$, core_private.queue_relation(p_queue))
          using v_due.tids;
        if v_due.tids is not null then
            perform core_private.set_cause(p_queue, v_owner.namespace, v_due.tids);
        end if;
    else
        v_take := case when v_alone is null then v_due.tids else array[v_alone] end;
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
    end if;
    if v_due.due between 1 and p_at_least - 1 then
        outcome := 'few'; read_ct := v_due.due;
        return next;
    end if;
    if v_due.alone_ids is not null then
        outcome := 'alone'; read_ct := cardinality(v_due.alone_ids);
        msg_id := (select min(i) from unnest(v_due.alone_ids) i);
        return next;
    end if;
    outcome := 'window'; read_ct := v_due.looked; scanned_to := v_due.scanned_to;
    headers := v_owner.levels::text::jsonb;
    msg_id := case when p_lease is null then pg_current_xact_id_if_assigned()::text::bigint end;
    return next;
    if v_trouble and cardinality(v_due.alone_ids) > 0 then
        -- Not quiet yet. Once a minute is enough, and whoever comes second leaves it to the first.
        update core_private.express_batches b
           set died_at = v_now
         where (b.queue_name, b.marker_id) in (
            select x.queue_name, x.marker_id
              from core_private.express_batches x
             where x.queue_name = p_queue and x.died_at is not null
             order by x.died_at desc limit 1 for update skip locked)
           and b.died_at < v_now - interval '1 minute';
    end if;
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
comment on function core_node.claim_batch(text, text[], integer[], integer, integer, bigint, integer, boolean, bigint, interval, interval, boolean, bigint[]) is 'For nodes: takes a batch of up to p_limit due deliveries that share one transaction. Express (p_key, p_within): locks them until the caller''s transaction ends, which is ended by the server when it sits idle or in one statement for p_within; the row window has its number as msg_id, which core_node.open_express is told. p_key is any number. Under p_lease: leases them as core_node.claim does, and one alone if it may have killed a process (without p_alone: none of those). Fewer than p_at_least are left where they are. Rows claimed, buried, few (how many there were), alone (how many of the batch have to go alone, and the first of them as msg_id), quiet (no death in express within five minutes, and no limits), limited (under leases, as of core_node.claim) and window, with read_ct as their number. p_floors, the rows level and headers of the window are as those of core_node.claim. Raises 55000, NX006, NX103, NX110, NX401, NX402.';
