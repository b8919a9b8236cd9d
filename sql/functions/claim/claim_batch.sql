-- The window, the types, the floor and the burials of core_node.claim, for batches that share a
-- transaction. What may be locked for seconds is only what is taken, so the window itself is not
-- locked: rows are locked one by one as they are joined by their place, until the limit. A row that
-- somebody changed meanwhile is judged again by vt, in its new version.
--
-- Under a lease whatever may have killed a process goes alone, so that its next death counts for nothing else:
-- messages that were read and never answered, those of a batch that died in express, and those at their last attempt.
-- Of these only the first is taken, with p_alone; what dies in company is given that read back when it is claimed
-- again. In express, which writes nothing here, the headers that are returned say so, and whoever settles writes it.
--
-- What the planner is kept from it may have to do all the same, at a price that would have the small
-- statements below compiled each time.
create or replace function core_node.claim_batch(
    p_queue text, p_types text[], p_max_attempts integer[], p_limit integer, p_at_least integer = 1,
    p_floor bigint = 0, p_window integer = null, p_sweep boolean = false,
    p_key bigint = null, p_within interval = null, p_lease interval = null, p_alone boolean = true)
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
    v_now      timestamptz := core_private.now();
    v_owner    record;
    v_trouble  boolean := false;
    v_relation text := core_private.queue_relation(p_queue);
    v_floor    bigint := coalesce(p_floor, 0);
    v_window   integer := least(greatest(coalesce(p_window, p_limit), p_limit), 10000);
    v_behind   bigint;
    v_tids     tid[];
    v_count    integer;
    v_suspects integer;
    v_suspect  bigint;
    v_looked   integer;
    v_scanned  bigint;
    v_dead     bigint[];
    v_dead_ct  integer[];
    v_reason   text[];
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    if v_owner.consumer_id is null then
        raise exception using errcode = 'NX006', column = 'p_queue',
            message = format('%s is a dead-letter queue', quote_literal(p_queue)),
            hint = 'Replay dead letters with core.replay_dead_letters.';
    end if;
    if p_limit is null or p_limit not between 1 and 10000 or p_at_least is null or p_at_least > p_limit
       or cardinality(p_types) is distinct from cardinality(p_max_attempts) then
        raise exception using errcode = 'NX006', column = 'p_limit',
            message = 'p_limit lies in 1 to 10000, p_at_least is no more, p_max_attempts is as long as p_types',
            hint = 'This function is for nodes; see its comment.';
    end if;
    if (p_lease is null) = (p_key is null) or (p_key is null) <> (p_within is null)
       or p_lease <= interval '0' or p_lease > interval '1 day'
       or p_within <= interval '0' or p_within > interval '10 minutes' then
        raise exception using errcode = 'NX006', column = 'p_lease',
            message = 'either p_lease lies in 0 to 1 day, or p_key is given and p_within lies in 0 to 10 minutes',
            hint = 'This function is for nodes; see its comment.';
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
        if not v_trouble then
            return query
                select 'quiet'::text, null::bigint, null::integer, null::jsonb, null::jsonb,
                       null::bigint, null::timestamptz;
        end if;
    end if;
    if v_owner.state <> 'active' or coalesce(cardinality(p_types), 0) = 0 then
        return query
            select 'window'::text, null::bigint, 0, null::jsonb, null::jsonb, null::bigint, null::timestamptz;
        return;
    end if;

    execute format($q$
        with w as materialized (
            select q.ctid as tid, q.msg_id,
                   case when q.message ->> 'eventType' = any ($14) then q.message ->> 'eventType'
                        else core_private.event_type_of(q.message) end as t
              from %2$s),
        c as materialized (
            select q.ctid as tid, q.msg_id, q.read_ct, q.headers, w.t,
                   coalesce(pg_column_size(q.message), 0) as bytes,
                   case when not ($5 or coalesce(w.t, 'unknown.raw') = any ($6)
                                  or coalesce(w.t, 'unknown.raw') ^@ any ($7))
                        then 'not an envelope'
                        when q.read_ct > 2147480000 or q.read_ct > 0 and core_private.attempts_used_up(
                                 q.read_ct, q.headers, coalesce(w.t, 'unknown.raw'), $6, $8, $9)
                        then 'not acknowledged (process lost)'
                   end as fate
              from w
              join %1$s q on q.ctid = w.tid
             where (w.t is null or $5 or w.t = any ($6) or w.t ^@ any ($7)) and q.vt <= $2 and q.msg_id = w.msg_id
             limit $4 for update of q skip locked),
        s as materialized (
            select c.tid, c.msg_id, sum(c.bytes) over (rows unbounded preceding) - c.bytes as bytes_before,
                   $10 is not null and (
                       c.read_ct > 0 and core_private.is_suspect(c.read_ct, c.headers)
                       or $11 and exists (
                           select
                             from core_private.express_batches b
                            where b.queue_name = $12 and b.died_at > $2 - interval '5 minutes'
                              and c.msg_id between b.lowest and b.highest
                              and (b.msg_ids is null or c.msg_id = any (b.msg_ids)))
                       or (c.read_ct > 0 or $11)
                          and core_private.attempts_used_up(c.read_ct + 1,
                                  core_private.headers_object(c.headers)
                                      || jsonb_build_object('nexus-alone', c.read_ct + 1),
                                  coalesce(c.t, 'unknown.raw'), $6, $8, $9)) as alone
              from c
             where c.fate is null and (select count(*) from c x where x.fate is null) >= $13),
        a as materialized (select min(s.msg_id) as msg_id from s where s.alone and $15)
        select (select array_agg(s.tid)
                  from s
                 cross join a
                 where s.bytes_before < 33554432 and a.msg_id is null and not s.alone or s.msg_id = a.msg_id),
               (select count(*)::integer from c where c.fate is null),
               (select count(*)::integer from s where s.alone),
               (select min(s.msg_id) from s where s.alone),
               (select count(*)::integer from w),
               (select max(w.msg_id) from w),
               array_agg(c.msg_id), array_agg(c.read_ct), array_agg(c.fate)
          from c
         where c.fate is not null
        $q$,
        v_relation,
        case when p_sweep then
                 format('%s q where q.vt <= $2 order by q.vt limit $3', v_relation)
             when v_floor > 0 then
                 format('%s q where q.msg_id >= $1 and q.vt <= $2 order by q.msg_id limit $3', v_relation)
             else format($q$
                   (select q.ctid, q.msg_id, q.message, q.vt
                      from %s q
                     where q.msg_id >= $1
                     order by q.msg_id limit 20000) q
             where q.vt <= $2
             limit $3
                 $q$, v_relation) end)
       into v_tids, v_count, v_suspects, v_suspect, v_looked, v_scanned, v_dead, v_dead_ct, v_reason
      using v_floor, v_now, v_window, p_limit, '*' = any (p_types), p_types,
            array(select left(t, -1) from unnest(p_types) t where right(t, 2) in ('.*', ':*')), p_max_attempts,
            core_private.max_attempts(v_owner.consumer_retry, v_owner.namespace_retry),
            p_lease, v_trouble, p_queue, p_at_least,
            -- What reads like one of these is a type; see core_node.claim.
            array(
                select t
                  from unnest(p_types) t
                 where core_private.is_event_type(t) and t ~ '[A-Za-z]' and t not in ('true', 'false')),
            p_alone;
    if v_looked < v_window and not p_sweep and v_floor <= 0 then
        v_behind := core_private.behind_head(v_relation, v_floor);
        if v_behind is not null then
            v_looked := v_window;
            v_scanned := v_behind - 1;
        end if;
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
            $q$, v_relation)
          using v_tids;
    else
        return query execute format($q$
            with u as (
                update %s q
                   set vt = $2 + $3, read_ct = q.read_ct + 1, last_read_at = $2%s
                 where q.ctid = any ($1)
                returning q.msg_id, q.read_ct, q.message, q.headers)
            select 'claimed'::text, u.*, null::bigint, $2
              from u
             order by u.msg_id
            $q$, v_relation,
            case when p_alone and v_suspects > 0
                 then ', headers = core_private.alone_headers(q.read_ct, q.headers)' end)
          using v_tids, v_now, p_lease;
    end if;
    return query
        select r.*
          from (values ('few', v_count), ('alone', v_suspects), ('window', v_looked)) o(outcome, n)
         cross join lateral (
            select o.outcome,
                   case when o.outcome = 'alone' then v_suspect
                        when o.outcome = 'window' and p_lease is null
                        then pg_current_xact_id_if_assigned()::text::bigint end, o.n, null::jsonb, null::jsonb,
                   case when o.outcome = 'window' then v_scanned end, null::timestamptz) r
         where o.outcome = 'window' or o.n > 0 and (o.outcome = 'alone' or o.n < p_at_least);
    if v_trouble and v_suspects > 0 then
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
    if v_dead is not null then
        return query
            select 'buried'::text, b.msg_id, b.read_ct, null::jsonb, null::jsonb, null::bigint, null::timestamptz
              from core_private.bury_found(
                       p_queue, v_owner.namespace, v_owner.consumer, v_dead, v_dead_ct, v_reason, v_now) b;
    end if;
end $$;
comment on function core_node.claim_batch(text, text[], integer[], integer, integer, bigint, integer, boolean, bigint, interval, interval, boolean) is 'For nodes: takes a batch of up to p_limit due deliveries that share one transaction. Express (p_key, p_within): locks them until the caller''s transaction ends, which is ended by the server when it sits idle or in one statement for p_within; the row window has its number as msg_id, which core_node.open_express is told. p_key is any number. Under p_lease: leases them as core_node.claim does, and one alone if it may have killed a process (without p_alone: none of those). Fewer than p_at_least are left where they are. Rows claimed, buried, few (how many there were), alone (how many of the batch have to go alone, and the first of them as msg_id), quiet (no death in express within five minutes) and window, with read_ct as their number. Raises NX006, NX103, NX110, NX401, NX402.';
