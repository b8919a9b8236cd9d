-- By due time from the far end, so that what is in flight, whose lease ends soon, is hardly looked at. What waits is nobody's: a retry or
-- release that is not due, told by its header, or what was never read. With a million of them at its head a queue costs half a second a claim
-- that has no floor yet. Due within two minutes they stay: moving costs more than waiting.
create or replace function core_private.set_aside(p_limit integer = 20000, p_beyond interval = '2 minutes')
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_now   timestamptz := core_private.now();
    v_n     integer;
    v_total integer := 0;
    r       record;
begin
    -- A drop of a namespace locks the queues before it deletes what is delayed.
    if not pg_try_advisory_xact_lock_shared(hashtext('nexus'), hashtext('delayed')) then
        return 0;
    end if;
    for r in select q.queue_name, core_private.queue_relation(q.queue_name) as relation from core.queues q where q.consumer_id is not null order by q.queue_name loop
        continue when to_regclass(r.relation) is null;
        execute format($q$
            with far as materialized (select q.ctid as tid from %1$s q where q.vt > $2 order by q.vt desc limit $3),
            waiting as materialized (
                select q.ctid as tid from far join %1$s q on q.ctid = far.tid
                 where q.vt > $2 and (q.read_ct = 0 or q.headers ->> 'nexus-due' = core_private.iso(q.vt)) and q.message is not null
                   for update of q skip locked),
            gone as (delete from %1$s q using waiting w where q.ctid = w.tid returning q.*)
            insert into core.delayed (due_at, queue_name, event_type, message, headers, msg_id, read_ct, enqueued_at, last_read_at)
            select g.vt, $1, coalesce(core_private.event_type_of(g.message), 'unknown.raw'), g.message, g.headers, g.msg_id, g.read_ct, g.enqueued_at, g.last_read_at
              from gone g
            $q$, r.relation) using r.queue_name, v_now + p_beyond, p_limit;
        get diagnostics v_n = row_count;
        v_total := v_total + v_n;
    end loop;
    return v_total;
end $$;
comment on function core_private.set_aside(integer, interval) is 'Moves messages whose next attempt is further away than p_beyond to core.delayed, from where they come back as they were; returns how many. Looks at p_limit a queue.';
