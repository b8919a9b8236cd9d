-- One window of the queue from where the last search ended, in id order, looked at without locks; only
-- what nobody handles is locked, with SKIP LOCKED, and moved. Leased messages, those that are not due
-- and those that are no envelope stay. A search that found nothing and took long, because dead rows
-- cannot be removed yet, is followed by a rest of fifty times its length.
create or replace function core_private.park(p_queue text, p_namespace text, p_patterns text[], p_window integer)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_now    timestamptz := core_private.now();
    v_begin  timestamptz := clock_timestamp();
    v_took   interval;
    v_looked integer;
    v_to     bigint;
    v_parked integer;
begin
    if '*' = any (p_patterns) then
        return 0;
    end if;
    execute format($q$
        with k as materialized (
            select k.looked_to, k.lived from core_private.parking k where k.queue_name = $1),
        w as materialized (
            select q.ctid as tid, q.msg_id, q.vt, core_private.event_type_of(q.message) as t
              from %1$s q
             where q.msg_id > (select k.looked_to from k)
             order by q.msg_id limit $5),
        u as materialized (
            select w.tid, w.t
              from w
             where w.vt <= $6 and w.t is not null and not (w.t = any ($3) or w.t ^@ any ($4))),
        locked as materialized (
            select q.ctid as tid, u.t
              from u
              join %1$s q on q.ctid = u.tid
             where q.vt <= $6 for update of q skip locked),
        gone as (
            delete from %1$s q
             using locked l
             where q.ctid = l.tid
            returning q.msg_id, q.read_ct, q.enqueued_at, q.last_read_at, q.message, q.headers, l.t),
        put as (
            insert into core.parked (
                queue_name, event_type, msg_id, namespace, event_id,
                read_ct, enqueued_at, last_read_at, message, headers, parked_at, lived)
            select $1, g.t, g.msg_id, $2,
                   case when g.message ->> 'eventId' ~ '^[0-9]{1,18}$' then (g.message ->> 'eventId')::bigint end,
                   g.read_ct, g.enqueued_at, g.last_read_at, g.message, g.headers, $6, k.lived
              from gone g
             cross join k
             order by g.t, g.msg_id)
        select (select count(*) from w), (select max(w.msg_id) from w), (select count(*) from gone)
        $q$, core_private.queue_relation(p_queue))
       into v_looked, v_to, v_parked
      using p_queue, p_namespace, p_patterns,
            array(select left(p, -1) from unnest(p_patterns) p where right(p, 2) in ('.*', ':*')),
            p_window, v_now;
    v_took := clock_timestamp() - v_begin;
    update core_private.parking k
       set looked_to = case when v_looked < p_window then 0 else v_to end,
           rest_until = case when v_parked > 0 or v_took < interval '0.1 s' then '-infinity'
                             else v_now + least(50 * v_took, interval '10 minutes') end
     where k.queue_name = p_queue;
    return v_parked;
end $$;
comment on function core_private.park(text, text, text[], integer) is 'Looks at the next p_window messages of a queue and parks those of types that are none of the patterns; returns how many. The caller holds the row of core_private.parking.';
