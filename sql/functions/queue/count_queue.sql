-- Bounded: 10,000 rows are counted exactly, beyond that the statistics speak. A queue that somebody has locked
-- is not waited for: a moment while the statement is young, so that many such don't add up, then no more.
--
-- The queue is looked at in a subtransaction that is undone: so its locks are given back at once, and
-- a look at thousands of queues needs no more of the lock table than one. A table without a page is
-- empty, and needs no look. Whatever times a message has, its queue has an age.
--
-- Each queue's statement is planned anew, which takes longer than to run it: so it is as plain as can
-- be, and what follows is computed here.
create or replace function core_private.count_queue(p_queue text)
returns table (
    queue_length bigint, newest_msg_age_seconds integer, oldest_msg_age_seconds integer,
    visible bigint, in_flight bigint, waiting bigint, delayed bigint, parked bigint, length_is_estimate boolean)
language plpgsql stable security definer cost 10000 rows 1
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
    v_now      timestamptz := core_private.now();
    v_relation text := core_private.queue_relation(p_queue);
    v_newest   timestamptz;
    v_oldest   timestamptz;
    v_of       double precision; -- how many there are by the statistics
    v_levels   bigint;
begin
    select 0, 0, 0, 0, false into queue_length, visible, in_flight, waiting, length_is_estimate;
    if to_regclass(v_relation) is null then
        select null, null, null, null, null into queue_length, visible, in_flight, waiting, length_is_estimate;
    else
        if clock_timestamp() > statement_timestamp() + interval '1 s' then
            perform set_config('lock_timeout', '1ms', true);
        end if;
        begin
            if pg_relation_size(v_relation::regclass) > 0 then
                execute format($q$
                    select count(*),
                           count(*) filter (where h.vt <= $1),
                           count(*) filter (
                               where h.vt > $1 and core_private.is_leased(h.vt, h.read_ct, h.headers)),
                           (select q.enqueued_at from %1$s q order by q.msg_id desc limit 1),
                           (select q.enqueued_at from %1$s q order by q.msg_id limit 1)
                      from (select q.vt, q.read_ct, q.headers from %1$s q limit 10001) h
                    $q$, v_relation)
                   into queue_length, visible, in_flight, v_newest, v_oldest
                  using v_now;
                v_levels := (
                    select c.levels
                      from core.queues q
                      join core.consumers c on c.consumer_id = q.consumer_id
                     where q.queue_name = p_queue);
                if v_levels > 1 then
                    execute format($q$
                        select max(b.enqueued_at), min(a.enqueued_at)
                          from generate_series(0, $1 - 1) l
                         cross join lateral (
                            select q.enqueued_at
                              from %1$s q
                             where q.msg_id >= l * 1000000000000000
                             order by q.msg_id limit 1) a
                         cross join lateral (
                            select q.enqueued_at
                              from %1$s q
                             where q.msg_id < (l + 1) * 1000000000000000
                             order by q.msg_id desc limit 1) b
                        $q$, v_relation)
                       into v_newest, v_oldest
                      using v_levels;
                end if;
                waiting := queue_length - visible - in_flight;
                newest_msg_age_seconds := case when isfinite(v_newest) then
                    least(greatest(extract(epoch from v_now - v_newest), 0), 2147483647)::integer end;
                oldest_msg_age_seconds := case when isfinite(v_oldest) then
                    least(greatest(extract(epoch from v_now - v_oldest), 0), 2147483647)::integer end;
                length_is_estimate := queue_length > 10000;
                if length_is_estimate then
                    v_of := (select greatest(c.reltuples, 10001) from pg_class c where c.oid = v_relation::regclass);
                    select (visible * v_of / queue_length)::bigint, (in_flight * v_of / queue_length)::bigint,
                           (waiting * v_of / queue_length)::bigint, v_of::bigint
                      into visible, in_flight, waiting, queue_length;
                end if;
            end if;
            raise exception using errcode = 'NXEND', message = 'the locks end here';
        exception
            when sqlstate 'NXEND' then
                null;
            when lock_not_available then
                select null, null, null, null, null into queue_length, visible, in_flight, waiting, length_is_estimate;
                return next; -- what waits apart is not told either
                return;
            when undefined_table then
                return; -- dropped meanwhile
        end;
    end if;
    select (select count(*) from (select from core.delayed d where d.queue_name = p_queue limit 10001) d),
           (select count(*) from (select from core.parked p where p.queue_name = p_queue limit 10001) p)
      into delayed, parked;
    return next;
end $$;
comment on function core_private.count_queue(text) is 'The numbers of one queue; all NULL while somebody holds a lock on the queue that forbids reading, and but what is delayed or parked for it while its table is missing; no row for one that is dropped meanwhile. Whoever calls it has asked whether the caller may know.';
