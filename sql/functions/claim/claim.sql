-- A window of rows in id order (a sweep: in order of vt), locked with SKIP LOCKED; what the caller
-- handles of it is leased. The filter by type stands outside the window: inside, it turns the plan
-- into a sort of the whole queue. The settings below keep the planner on the index that serves the
-- order, whatever its statistics say. Deliveries whose attempts are used up (their process died each
-- time) and messages that are no envelope are buried before any handler sees them.
--
-- A claim without a floor ends its window after 20,000 rows, since what is leased or waits may lie at the head
-- in any number. A wide window (more than twice the limit), for a crowd of foreign types, counts all rows and
-- locks only what it takes: locking the others would write to each of them and hide them from their own nodes.
--
-- A message that was read and never answered may have killed its process: a suspect. Of these a claim
-- takes the first, and only with p_alone, which a node gives when it has none in hand. So its next
-- death counts for it, and for nothing beside it.
--
-- In a crowd there are few types, so each is judged once; only what that leaves, and what reads like a
-- number or a boolean, row by row.
--
-- The look keeps places and ids only. The lease goes straight to the places, which can't change while
-- the rows are locked, and hands on the messages without a copy.
create or replace function core_node.claim(
    p_queue text, p_types text[], p_max_attempts integer[], p_limit integer, p_lease interval,
    p_floor bigint = 0, p_window integer = null, p_sweep boolean = false, p_alone boolean = true)
returns table (
    outcome text, msg_id bigint, read_ct integer, message jsonb, headers jsonb,
    scanned_to bigint, last_read_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_now      timestamptz := core_private.now();
    v_owner    record;
    v_prefixes text[];
    v_plain    text[];
    v_relation text := core_private.queue_relation(p_queue);
    v_window   integer := least(greatest(coalesce(p_window, p_limit), p_limit), 10000);
    v_wide     boolean := v_window > 2::bigint * p_limit;
    v_floor    bigint := coalesce(p_floor, 0);
    v_from     text;
    v_looked   integer;
    v_scanned  bigint;
    v_next     bigint;
    v_tids     tid[];
    v_ids      bigint[];
    v_bytes    integer[];
    v_dead     bigint[];
    v_dead_ct  integer[];
    v_reason   text[];
    v_alone    bigint[];
    v_taken    integer := 0;
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    if v_owner.consumer_id is null then
        raise exception using errcode = 'NX006', column = 'p_queue',
            message = format('%s is a dead-letter queue', quote_literal(p_queue)),
            hint = 'Replay dead letters with core.replay_dead_letters.';
    end if;
    if p_limit is null or p_limit < 0 or p_limit > 10000
       or p_lease is null or p_lease <= interval '0' or p_lease > interval '1 day'
       or cardinality(p_types) is distinct from cardinality(p_max_attempts) then
        raise exception using errcode = 'NX006', column = 'p_limit',
            message = 'p_limit lies in 0 to 10000, p_lease in 0 to 1 day, p_max_attempts is as long as p_types',
            hint = 'This function is for nodes; see its comment.';
    end if;
    if p_limit = 0 or v_owner.state <> 'active' or coalesce(cardinality(p_types), 0) = 0 then
        return query
            select 'window'::text, null::bigint, 0, null::jsonb, null::jsonb, null::bigint, null::timestamptz;
        return;
    end if;
    -- Where eventType reads like one of v_plain it is that string: numbers and booleans read otherwise. So
    -- most types need no check.
    select coalesce(array_agg(left(t, -1)) filter (where right(t, 2) in ('.*', ':*')), '{}'),
           coalesce(array_agg(t) filter (
               where core_private.is_event_type(t) and t ~ '[A-Za-z]' and t not in ('true', 'false')), '{}')
      into v_prefixes, v_plain
      from unnest(p_types) t;

    v_from := case
        when p_sweep then
            format('%s q where q.vt <= $2 order by q.vt limit $3', v_relation)
        when v_wide then
            format('%s q where q.msg_id >= $1 order by q.msg_id limit $3', v_relation)
        when v_floor > 0 then
            format('%s q where q.msg_id >= $1 and q.vt <= $2 order by q.msg_id limit $3', v_relation)
        else format($q$
                               (select h.ctid as tid, h.vt
                                  from %1$s h
                                 where h.msg_id >= $1
                                 order by h.msg_id limit 20000) h
                          join %1$s q on q.ctid = h.tid
                         where h.vt <= $2 and q.vt <= $2
                         limit $3
            $q$, v_relation) end;
    execute format($q$
        %1$s
        select %2$s,
               array_agg(m.tid) filter (where m.fate is null),
               array_agg(m.msg_id) filter (where m.fate is null),
               array_agg(m.bytes) filter (where m.fate is null),
               array_agg(m.msg_id) filter (where m.fate <> ''),
               array_agg(m.read_ct) filter (where m.fate <> ''),
               array_agg(m.fate) filter (where m.fate <> '')
          from (select w.tid, w.msg_id, w.read_ct, w.bytes,
                       case
                       when not (w.plain or coalesce(w.t, 'unknown.raw') = any ($6)
                                 or coalesce(w.t, 'unknown.raw') ^@ any ($7))
                       then case when w.t is null then 'not an envelope' else '' end
                       when w.read_ct > 2147480000 or w.read_ct > 0 and core_private.attempts_used_up(
                                w.read_ct, w.headers, coalesce(w.t, 'unknown.raw'), $6, $8, $9)
                       then 'not acknowledged (process lost)'
                       when w.read_ct > 0 and core_private.is_suspect(w.read_ct, w.headers)
                       then 'alone' end as fate
                  from (select q.ctid as tid, q.msg_id, q.read_ct, q.headers,
                               coalesce(pg_column_size(q.message), 0) as bytes,
                               %3$s
                           for update of q skip locked) w
                offset 0) m
        $q$,
        case when v_wide then format($q$
        with l as materialized (
            select q.ctid as tid, q.msg_id, q.vt, coalesce(q.message ->> 'eventType', '') as t from %s),
        g as materialized (
            select l.t, count(*) as n, max(l.msg_id) as highest
              from l
             group by l.t)
            $q$, v_from) end,
        case when v_wide then $q$
               (select coalesce(sum(g.n), 0)::integer from g),
               least((select max(g.highest) from g), case when count(*) >= $4 then max(m.msg_id) end)
            $q$ else 'count(*)::integer, max(m.msg_id)' end,
        case when v_wide then format($q$
                               core_private.event_type_of(q.message) as t, $5 as plain
                          from l
                          join %s q on q.ctid = l.tid
                         where ($5 or l.t = any (array(
                                   select g.t
                                     from g
                                    where g.t = any ($6) or g.t ^@ any ($7)
                                       or not core_private.is_event_type(g.t)
                                       or g.t < 'A' collate "C" or g.t in ('true', 'false'))))
                           and ($5 or core_private.event_type_of(q.message) is null
                                or core_private.event_type_of(q.message) = any ($6)
                                or core_private.event_type_of(q.message) ^@ any ($7))
                           and l.vt <= $2 and q.vt <= $2 and q.msg_id = l.msg_id
                         limit $4
            $q$, v_relation)
            else format($q$
                               $5 or coalesce(q.message ->> 'eventType' = any ($10), false) as plain,
                               case when q.read_ct > 0
                                      or not $5 and (q.message ->> 'eventType' = any ($10)) is not true
                                    then core_private.event_type_of(q.message) end as t
                          from %s
            $q$, v_from) end)
       into v_looked, v_scanned, v_tids, v_ids, v_bytes, v_dead, v_dead_ct, v_reason
      using v_floor, v_now, v_window, p_limit, '*' = any (p_types), p_types, v_prefixes, p_max_attempts,
            core_private.max_attempts(v_owner.consumer_retry, v_owner.namespace_retry), v_plain;
    if v_looked < v_window and not v_wide and not p_sweep and v_floor <= 0 then
        -- Is that all, or did what is hidden end the window?
        v_next := core_private.behind_head(v_relation, v_floor);
        if v_next is not null then
            v_looked := v_window;
            v_scanned := v_next - 1;
        end if;
    end if;
    -- What a node takes at once has to fit into its memory.
    if (select sum(b) from unnest(v_bytes) b) >= 33554432 then
        select array_agg(u.tid order by u.n) filter (where u.before < 33554432),
               least(v_scanned, min(u.id) filter (where u.before >= 33554432) - 1)
          into v_tids, v_scanned
          from (select c.*, sum(c.bytes) over (order by c.n) - c.bytes as before
                  from unnest(v_tids, v_ids, v_bytes) with ordinality c(tid, id, bytes, n)) u;
    end if;
    if v_dead is not null then
        select array_agg(u.id order by u.n) filter (where u.fate = 'alone'),
               array_agg(u.id order by u.n) filter (where u.fate <> 'alone'),
               array_agg(u.ct order by u.n) filter (where u.fate <> 'alone'),
               array_agg(u.fate order by u.n) filter (where u.fate <> 'alone')
          into v_alone, v_dead, v_dead_ct, v_reason
          from unnest(v_dead, v_dead_ct, v_reason) with ordinality u(id, ct, fate, n);
    end if;
    if v_alone is not null then
        if p_alone then
            return query execute format($q$
                update %s q
                   set vt = $1 + $2, read_ct = q.read_ct + 1,
                       last_read_at = $1, headers = core_private.alone_headers(q.read_ct, q.headers)
                 where q.msg_id = $3
                returning 'claimed'::text, q.msg_id, q.read_ct, q.message, q.headers, null::bigint, q.last_read_at
                $q$, v_relation)
              using v_now, p_lease, v_alone[1];
            v_taken := 1;
        end if;
        return query
            select 'alone'::text, min(i), count(*)::integer, null::jsonb, null::jsonb, null::bigint, null::timestamptz
              from unnest(v_alone[1 + v_taken:]) i
            having count(*) > 0;
    end if;
    return query execute format($q$
        update %s q
           set vt = $1 + $2, read_ct = q.read_ct + 1, last_read_at = $1
         where q.ctid = any ($3)
        returning 'claimed'::text, q.msg_id, q.read_ct, q.message, q.headers, null::bigint, q.last_read_at
        $q$, v_relation)
      using v_now, p_lease, v_tids[:p_limit - v_taken];
    outcome := 'window'; read_ct := v_looked; scanned_to := v_scanned;
    return next;

    if v_dead is not null then
        return query
            select 'buried'::text, b.msg_id, b.read_ct, null::jsonb, null::jsonb, null::bigint, null::timestamptz
              from core_private.bury_found(
                       p_queue, v_owner.namespace, v_owner.consumer, v_dead, v_dead_ct, v_reason, v_now) b;
    end if;
end $$;
comment on function core_node.claim(text, text[], integer[], integer, interval, bigint, integer, boolean, boolean) is 'For nodes: leases up to p_limit due deliveries of the types given (patterns; p_max_attempts is parallel, -1 never, 0 or NULL the consumer''s). Of those that were read and never answered it takes one, none unless p_alone. Rows claimed and buried, alone (the lowest of those left for that reason, their number in read_ct), and one row window with what was looked at: scanned_to, and the number of rows in read_ct, which is p_window or more where more may lie beyond scanned_to. The fence is (msg_id, read_ct, last_read_at). Raises NX006, NX103, NX110, NX401, NX402.';
