-- The one place that says what may be claimed. Callers keep the planner to the index that serves the order, whatever
-- its statistics say: their settings are in force here.
--
-- p_for says what for: 'lease' (each message by itself), 'batch' (a batch under a lease), 'trouble' (the same while
-- nodes died in express) or 'express' (a batch that is only locked). See fate_of for who may share.
--
-- With p_below it is one level of a queue: ids from the floor on, and below that. See find_due_by_level, which alone
-- gives level_looked and level_scanned.
--
-- What is looked at is a window of rows in id order (a sweep: in order of vt). Without a floor (for a level: where
-- it begins) it ends after 20,000 rows, since what is leased or waits may lie at the head in any number.
--
-- For 'lease' the window is locked as a whole with SKIP LOCKED. The filter by type stands outside of it: inside, it
-- turns the plan into a sort of the whole queue. A wide window (more than twice the limit), for a crowd of foreign
-- types, counts all rows and locks only what it takes: locking the others would write to each of them and hide them
-- from their own nodes. For batches only what is taken is locked in any window, since that may be for seconds: rows
-- are locked one by one as they are joined by their place, until the limit. A row that somebody changed meanwhile is
-- judged again by vt, in its new version. In a crowd there are few types, so each is judged once.
--
-- Where eventType reads like one of v_plain it is that string: numbers and booleans read otherwise. What has such a
-- type and was never read needs no further judgement. The rest is judged by a function that is not inlined: it is
-- rare, and its text would be planned anew with each claim.
--
-- The look keeps places and ids only. Places can't change while the rows are locked, so that the messages are leased
-- by them, and handed on without a copy.
create or replace function core_private.find_due(
    p_queue text, p_for text, p_types text[], p_max_attempts integer[], p_default integer,
    p_limit integer, p_floor bigint, p_window integer, p_sweep boolean, p_now timestamptz, p_below bigint = null,
    out tids tid[], out alone_tids tid[], out alone_ids bigint[],
    out dead_ids bigint[], out dead_cts integer[], out dead_reasons text[],
    out due integer, out looked integer, out scanned_to bigint,
    out level_looked integer[], out level_scanned bigint[])
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_relation text    := core_private.queue_relation(p_queue);
    v_floor    bigint  := coalesce(p_floor, 0);
    v_window   integer := least(greatest(coalesce(p_window, p_limit), p_limit), 10000);
    v_wide     boolean := p_for = 'lease' and v_window > 2::bigint * p_limit;
    v_picks    boolean := v_wide or p_for <> 'lease'; -- only what is taken is locked
    v_every    boolean := '*' = any (p_types);
    v_prefixes text[];
    v_plain    text[];
    v_look     text;
    v_fate     text;
    v_ids      bigint[];
    v_bytes    integer[];
    v_next     bigint;
begin
    select coalesce(array_agg(left(t, -1)) filter (where right(t, 2) in ('.*', ':*')), '{}'),
           coalesce(array_agg(t) filter (
               where core_private.is_event_type(t) and t ~ '[A-Za-z]' and t not in ('true', 'false')), '{}')
      into v_prefixes, v_plain
      from unnest(p_types) t;

    v_look := case
        when p_sweep then
            format('%s q where q.vt <= $2 order by q.vt limit $3', v_relation)
        when v_wide then
            format('%s q where q.msg_id >= $1%s order by q.msg_id limit $3', v_relation,
                   ' and q.msg_id < ' || p_below)
        when v_floor % 1000000000000000 > 0 then
            format('%s q where q.msg_id >= $1%s and q.vt <= $2 order by q.msg_id limit $3', v_relation,
                   ' and q.msg_id < ' || p_below)
        when v_picks then format($q$
                       (select q.ctid, q.msg_id, q.message, q.vt
                          from %s q
                         where q.msg_id >= $1%s
                         order by q.msg_id limit 20000) q
                 where q.vt <= $2
                 limit $3
            $q$, v_relation, ' and q.msg_id < ' || p_below)
        else format($q$
                       (select h.ctid as tid, h.vt, h.msg_id
                          from %1$s h
                         where h.msg_id >= $1%2$s
                         order by h.msg_id limit 20000) h
                  join %1$s q on q.ctid = h.tid
                 where h.vt <= $2 and q.vt <= $2
                 order by h.msg_id limit $3
            $q$, v_relation, ' and h.msg_id < ' || p_below) end;

    v_fate := format('core_private.fate_of(%L, q.read_ct, q.headers, q.message, $5, $6, $7, $8)', p_for);
    v_fate := case
        when p_for = 'trouble' then format($q$
                       coalesce(%s, case when exists (
                           select
                             from core_private.express_batches b
                            where b.queue_name = $10 and b.died_at > $2 - interval '5 minutes'
                              and q.msg_id between b.lowest and b.highest
                              and (b.msg_ids is null or q.msg_id = any (b.msg_ids))) then 'alone' end)
            $q$, v_fate)
        when v_every then format('case when q.read_ct <> 0 then %s end', v_fate)
        else format($q$
                       case when q.read_ct <> 0 or (q.message ->> 'eventType' = any ($9)) is not true
                            then %s end
            $q$, v_fate) end;

    execute format($q$
        %1$s
        select %2$s,
               array_agg(w.tid) filter (where w.fate is null),
               array_agg(w.msg_id) filter (where w.fate is null),
               array_agg(w.bytes) filter (where w.fate is null),
               array_agg(w.tid) filter (where w.fate = 'alone'),
               array_agg(w.msg_id) filter (where w.fate = 'alone'),
               array_agg(w.msg_id) filter (where w.fate not in ('', 'alone')),
               array_agg(w.read_ct) filter (where w.fate not in ('', 'alone')),
               array_agg(w.fate) filter (where w.fate not in ('', 'alone'))
          from (select q.ctid as tid, q.msg_id, q.read_ct, coalesce(pg_column_size(q.message), 0) as bytes,
                       %3$s as fate
                  from %4$s
                   for update of q skip locked) w
        $q$,
        case when v_picks then format($q$
        with l as materialized (
            select q.ctid as tid, q.msg_id, q.vt, coalesce(q.message ->> 'eventType', '') as t from %s),
        g as materialized (
            select l.t, count(*) as n, max(l.msg_id) as highest
              from l
             group by l.t)
            $q$, v_look) end,
        case when v_picks then $q$
               (select coalesce(sum(g.n), 0)::integer from g),
               least((select max(g.highest) from g), case when count(*) >= $4 then max(w.msg_id) end)
            $q$ else 'count(*)::integer, max(w.msg_id)' end,
        v_fate,
        case when v_picks then format($q$l
                  join %s q on q.ctid = l.tid
                 where l.vt <= $2 and q.vt <= $2 and q.msg_id = l.msg_id%s
                 limit $4
            $q$, v_relation, case when not v_every then format($q$
                   and l.t = any (array(
                           select g.t
                             from g
                            where g.t = any ($5) or g.t ^@ any ($6)
                               or not core_private.is_event_type(g.t)
                               or g.t < 'A' collate "C" or g.t in ('true', 'false')))
                   and %s is distinct from ''
                $q$, v_fate) end)
            else v_look end)
       into looked, scanned_to, tids, v_ids, v_bytes, alone_tids, alone_ids, dead_ids, dead_cts, dead_reasons
      using v_floor, p_now, v_window, p_limit, p_types, v_prefixes, p_max_attempts, p_default, v_plain, p_queue;

    if looked < v_window and not v_wide and not p_sweep and v_floor % 1000000000000000 <= 0 then
        -- Is that all, or did what is hidden end the window?
        v_next := core_private.behind_head(v_relation, v_floor, p_below);
        if v_next is not null then
            looked := v_window;
            scanned_to := v_next - 1;
        end if;
    end if;
    due := coalesce(cardinality(tids), 0) + coalesce(cardinality(alone_tids), 0);
    -- What a node takes at once has to fit into its memory.
    if (select sum(b) from unnest(v_bytes) b) >= core_private.bytes_at_once() then
        select array_agg(u.tid order by u.n) filter (where u.before < core_private.bytes_at_once()),
               least(scanned_to, min(u.id) filter (where u.before >= core_private.bytes_at_once()) - 1)
          into tids, scanned_to
          from (select c.*, sum(c.bytes) over (order by c.n) - c.bytes as before
                  from unnest(tids, v_ids, v_bytes) with ordinality c(tid, id, bytes, n)) u;
    end if;
end $$;
comment on function core_private.find_due(text, text, text[], integer[], integer, integer, bigint, integer, boolean, timestamptz, bigint) is 'Looks for due deliveries and locks them: the places of those that may be taken, up to 32 MB; places and ids of those that have to go alone; those to bury, with reasons; how many are due, whatever their size; how many rows were looked at, p_window or more where more may lie beyond scanned_to.';
