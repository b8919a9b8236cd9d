-- A window of rows in id order (a sweep: in order of vt), locked with SKIP LOCKED; what the caller handles of it is leased. The filter
-- by type stands outside the window: inside, it turns the plan into a sort of the whole queue. The settings below keep the planner on
-- the index that serves the order, whatever its statistics say. Deliveries whose attempts are used up (their process died each time)
-- and messages that are no envelope are buried before any handler sees them.
--
-- A claim without a floor ends its window after 20,000 rows, since what is leased or waits may lie at the head in any number. A wide
-- window (more than twice the limit), for a crowd of foreign types, counts all rows and locks only what it takes: locking the others
-- would write to each of them and hide them from their own nodes.
create or replace function core.claim(
    p_queue text, p_types text[], p_max_attempts integer[], p_limit integer, p_lease interval,
    p_floor bigint = 0, p_window integer = null, p_sweep boolean = false)
returns table (outcome text, msg_id bigint, read_ct integer, message jsonb, headers jsonb, scanned_to bigint)
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
    v_all      boolean := '*' = any (p_types);
    v_dead     bigint[] := '{}';
    v_dead_ct  integer[] := '{}';
    v_reason   text[] := '{}';
    v_outcome  text;
    v_id       bigint;
    v_ct       integer;
    v_message  jsonb;
    v_headers  jsonb;
    v_to       bigint;
    v_relation text := core_private.queue_relation(p_queue);
    v_window   integer := least(greatest(coalesce(p_window, p_limit), p_limit), 10000);
    v_wide     boolean;
    v_next     bigint;
    v_looked   integer;
    v_scanned  bigint;
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    if v_owner.consumer_id is null then
        raise exception using errcode = 'NX006', column = 'p_queue', message = format('%s is a dead-letter queue', quote_literal(p_queue)),
            hint = 'Replay dead letters with core.replay_dead_letters.';
    end if;
    if p_limit is null or p_limit < 0 or p_limit > 10000 or p_lease is null or p_lease <= interval '0' or p_lease > interval '1 day'
       or cardinality(p_types) is distinct from cardinality(p_max_attempts) then
        raise exception using errcode = 'NX006', column = 'p_limit', message = 'p_limit lies in 0 to 10000, p_lease in 0 to 1 day, p_max_attempts is as long as p_types',
            hint = 'This function is for nodes; see its comment.';
    end if;
    if p_limit = 0 or v_owner.state <> 'active' or coalesce(cardinality(p_types), 0) = 0 then
        return query select 'window'::text, null::bigint, 0, null::jsonb, null::jsonb, null::bigint;
        return;
    end if;
    v_prefixes := array(select left(t, -1) from unnest(p_types) t where right(t, 2) in ('.*', ':*'));

    v_wide := v_window > 2 * p_limit;
    for v_outcome, v_id, v_ct, v_message, v_headers, v_to in execute format($q$
        with %3$s as materialized (
            select q.ctid as tid, q.msg_id, q.vt, q.read_ct, q.headers, coalesce(pg_column_size(q.message), 0) as bytes,
                   core_private.event_type_of(q.message) as t
              from %2$s),
        %5$s
        m as materialized (
            select w.*, case
                       when not ($5 or coalesce(w.t, 'unknown.raw') = any ($6) or coalesce(w.t, 'unknown.raw') ^@ any ($7)) then case when w.t is null then 'stray' else 'other' end
                       when w.read_ct > 2147480000 or w.read_ct > 0 and core_private.attempts_used_up(w.read_ct, w.headers, coalesce(w.t, 'unknown.raw'), $6, $8, $9) then 'dead'
                       else 'claim' end as fate,
                   sum(w.bytes) over (rows unbounded preceding) - w.bytes as bytes_before
              from w),
        c as materialized (select m.tid from m where m.fate = 'claim' and m.bytes_before < 33554432 limit $4),
        u as (
            update %1$s q set vt = $2 + $10, read_ct = q.read_ct + 1, last_read_at = $2
              from c where q.ctid = c.tid returning q.msg_id, q.read_ct, q.message, q.headers)
        select 'claimed' as outcome, u.msg_id, u.read_ct, u.message, u.headers, null::bigint as scanned_to from u
        union all select m.fate, m.msg_id, m.read_ct, null, null, null from m where m.fate in ('dead', 'stray')
        union all select 'window', null, count(*)::integer, null, null,
                         least(max(l.msg_id), %4$s, (select min(m.msg_id) - 1 from m where m.fate = 'claim' and m.bytes_before >= 33554432)) from %3$s l
        $q$, v_relation,
        case when p_sweep then format('%s q where q.vt <= $2 order by q.vt limit $3', v_relation)
             when v_wide then format('%s q where q.msg_id >= $1 order by q.msg_id limit $3', v_relation)
             when p_floor > 0 then format('%s q where q.msg_id >= $1 and q.vt <= $2 order by q.msg_id limit $3', v_relation)
             else format('(select h.ctid as tid, h.vt from %1$s h where h.msg_id >= $1 order by h.msg_id limit 20000) h
                            join %1$s q on q.ctid = h.tid where h.vt <= $2 and q.vt <= $2 limit $3', v_relation) end
            || case when v_wide then '' else ' for update of q skip locked' end,
        case when v_wide then 'l' else 'w' end,
        case when v_wide then '(select max(w.msg_id) from w having count(*) >= $4)' else 'null' end,
        case when v_wide then format('w as materialized (
            select q.ctid as tid, q.msg_id, q.read_ct, q.headers, l.bytes, l.t from l join %s q on q.ctid = l.tid
             where (l.t is null or $5 or l.t = any ($6) or l.t ^@ any ($7)) and l.vt <= $2 and q.vt <= $2 and q.msg_id = l.msg_id limit $4 for update of q skip locked),', v_relation) end)
        using coalesce(p_floor, 0), v_now, v_window, p_limit, v_all, p_types, v_prefixes, p_max_attempts,
              core_private.max_attempts(v_owner.consumer_retry, v_owner.namespace_retry), p_lease
    loop
        if v_outcome = 'claimed' then
            outcome := v_outcome; msg_id := v_id; read_ct := v_ct; message := v_message; headers := v_headers;
            return next;
        elsif v_outcome = 'window' then
            v_looked := v_ct;
            v_scanned := v_to;
        else
            v_dead := v_dead || v_id;
            v_dead_ct := v_dead_ct || v_ct;
            v_reason := v_reason || case v_outcome when 'dead' then 'not acknowledged (process lost)' else 'not an envelope' end;
        end if;
    end loop;
    if v_looked < v_window and not v_wide and not p_sweep and not coalesce(p_floor > 0, false) then
        -- Is that all, or did what is hidden end the window?
        execute format('select q.msg_id from %s q where q.msg_id >= $1 order by q.msg_id offset 20000 limit 1', v_relation) into v_next using coalesce(p_floor, 0);
        if v_next is not null then
            v_looked := v_window;
            v_scanned := v_next - 1;
        end if;
    end if;
    outcome := 'window'; msg_id := null; read_ct := v_looked; message := null; headers := null; scanned_to := v_scanned;
    return next;

    if v_dead <> '{}' then
        return query select 'buried'::text, b.msg_id, b.read_ct, null::jsonb, null::jsonb, null::bigint
                       from core_private.bury_found(p_queue, v_owner.namespace, v_owner.consumer, v_dead, v_dead_ct, v_reason, v_now) b;
    end if;
end $$;
comment on function core.claim(text, text[], integer[], integer, interval, bigint, integer, boolean) is 'For nodes: leases up to p_limit due deliveries of the types given (patterns; p_max_attempts is parallel, -1 never, 0 or NULL the consumer''s). Rows claimed and buried, then one row window with what was looked at: scanned_to, and the number of rows in read_ct, which is p_window or more where more may lie beyond scanned_to. The fence is (msg_id, read_ct). Raises NX006, NX103, NX401, NX402.';
