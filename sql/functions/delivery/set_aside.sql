-- By due time from the far end, so that what is in flight, whose lease ends soon, is hardly looked at.
-- What waits is nobody's: a retry or release that is not due, told by its header, or what was never
-- read. With a million of them at its head a queue costs half a second a claim that has no floor yet.
-- Due within two minutes they stay: moving costs more than waiting.
--
-- Some queues a call, for as long as p_for; the next one goes on after them. One that somebody has
-- locked is passed over.
create or replace function core_private.set_aside(
    p_limit integer = 20000, p_beyond interval = '2 minutes', p_queues integer = 100, p_for interval = '500 ms')
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
set lock_timeout = '50ms'
as $$
declare
    v_now   timestamptz := core_private.now();
    v_end   timestamptz := clock_timestamp() + p_for;
    v_n     integer;
    v_total integer := 0;
    v_last  text;
    r       record;
begin
    for r in select t.queue_name, t.relation from core_private.queues_in_turn('set_aside', p_queues) t loop
        v_last := r.queue_name;
        begin
            execute format($q$
                with far as materialized (
                    select q.ctid as tid
                      from %1$s q
                     where q.vt > $2 and q.vt < 'infinity'
                     order by q.vt desc limit $3),
                waiting as materialized (
                    select q.ctid as tid
                      from far
                      join %1$s q on q.ctid = far.tid
                     where q.vt > $2 and q.vt < 'infinity'
                       and not core_private.is_leased(q.vt, q.read_ct, q.headers)
                       and q.message is not null
                       for update of q skip locked),
                gone as (
                    delete from %1$s q
                     using waiting w
                     where q.ctid = w.tid
                    returning q.*)
                insert into core.delayed (
                    due_at, queue_name, event_type, message, headers, msg_id, read_ct, enqueued_at, last_read_at)
                select g.vt, $1, coalesce(core_private.event_type_of(g.message), 'unknown.raw'), g.message, g.headers,
                       g.msg_id, g.read_ct, g.enqueued_at, g.last_read_at
                  from gone g
                $q$, r.relation)
              using r.queue_name, v_now + p_beyond, p_limit;
            get diagnostics v_n = row_count;
            v_total := v_total + v_n;
        exception when lock_not_available or undefined_table then
            perform set_config('lock_timeout', '1ms', true);
        end;
        exit when clock_timestamp() > v_end;
    end loop;
    perform core_private.note_turn('set_aside', v_last);
    return v_total;
end $$;
comment on function core_private.set_aside(integer, interval, integer, interval) is 'Moves messages whose next attempt is further away than p_beyond to core.delayed, from where they come back as they were; returns how many. Looks at p_limit a queue, and at p_queues queues a call.';
