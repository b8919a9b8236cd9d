-- Bounded: 10,000 rows are counted exactly, beyond that the statistics speak. A queue that somebody has locked is not waited for.
create or replace function core_private.count_queues(p_namespaces text[])
returns table (queue_name text, queue_length bigint, newest_msg_age_seconds integer, oldest_msg_age_seconds integer,
               visible bigint, in_flight bigint, waiting bigint, delayed bigint, parked bigint, length_is_estimate boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
    r     record;
begin
    for r in select q.queue_name, c.relation from core.queues q cross join lateral (select core_private.queue_relation(q.queue_name) as relation) c
              where q.namespace = any (p_namespaces) order by q.queue_name
    loop
        continue when to_regclass(r.relation) is null;
        begin
            execute format($q$
                with head as (select q.vt, q.read_ct, q.headers from %1$s q limit 10001),
                n as (select count(*) as n, count(*) filter (where h.vt <= $2) as visible,
                             count(*) filter (where h.vt > $2 and h.read_ct > 0 and h.headers ->> 'nexus-due' is distinct from core_private.iso(h.vt)) as in_flight,
                             count(*) filter (where h.vt > $2 and (h.read_ct = 0 or h.headers ->> 'nexus-due' = core_private.iso(h.vt))) as waiting
                        from head h),
                e as (select n.*, n.n > 10000 as big, greatest(c.reltuples, 10001) as rows from n, pg_class c where c.oid = $3::regclass)
                select $1, case when e.big then e.rows::bigint else e.n end,
                       (select greatest(extract(epoch from $2 - q.enqueued_at), 0)::integer from %1$s q order by q.msg_id desc limit 1),
                       (select greatest(extract(epoch from $2 - q.enqueued_at), 0)::integer from %1$s q order by q.msg_id limit 1),
                       case when e.big then (e.visible * e.rows / e.n)::bigint else e.visible end,
                       case when e.big then (e.in_flight * e.rows / e.n)::bigint else e.in_flight end,
                       case when e.big then (e.waiting * e.rows / e.n)::bigint else e.waiting end,
                       (select count(*) from (select from core.delayed d where d.queue_name = $1 limit 10001) d),
                       (select count(*) from (select from core.parked p where p.queue = $1 limit 10001) p), e.big
                  from e
                $q$, r.relation)
               into queue_name, queue_length, newest_msg_age_seconds, oldest_msg_age_seconds, visible, in_flight, waiting, delayed, parked, length_is_estimate
              using r.queue_name, v_now, r.relation;
        exception when lock_not_available then
            select r.queue_name, null, null, null, null, null, null, null, null, null
              into queue_name, queue_length, newest_msg_age_seconds, oldest_msg_age_seconds, visible, in_flight, waiting, delayed, parked, length_is_estimate;
        end;
        return next;
    end loop;
end $$;
comment on function core_private.count_queues(text[]) is 'One row a queue of these namespaces; all NULL but its name while somebody holds a lock on the queue that forbids reading. Whoever calls it has asked whether the caller may know.';
