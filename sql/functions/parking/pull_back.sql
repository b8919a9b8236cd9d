-- By ranges of the primary key: a pattern is a range of types in the order of bytes, so that types which nobody handles
-- are not looked at, however many there are. What comes back has its old msg_id, read_ct, headers and enqueued_at.
create or replace function core_private.pull_back(p_queue text, p_patterns text[], p_limit integer)
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
    v_total integer := 0;
    v_n     integer;
    r       record;
begin
    if not exists (select from core.parked p where p.queue_name = p_queue) then
        return 0;
    end if;
    if to_regclass(core_private.queue_relation(p_queue)) is null then
        perform core_private.fail_lost_queue(p_queue);
    end if;
    for r in
        select distinct
               case when right(p, 1) = '*' then left(p, -1) else p end as low,
               case when p = '*' then '~'
                    when right(p, 1) = '*' then left(p, -2) || chr(ascii(right(p, 2)) + 1)
                    else p || ' ' end as high
          from unnest(p_patterns) p
    loop
        exit when v_total >= p_limit;
        execute format($q$
            with back as (
                delete from core.parked p
                 using (select x.ctid as tid
                          from core.parked x
                         where x.queue_name = $1 and x.event_type >= $2 and x.event_type < $3
                         order by x.event_type, x.msg_id limit $4) batch
                 where p.ctid = batch.tid
                returning p.msg_id, p.read_ct, p.enqueued_at, p.last_read_at, p.message, p.headers)
            insert into %s (msg_id, read_ct, enqueued_at, last_read_at, vt, message, headers) overriding system value
            select b.msg_id, b.read_ct, b.enqueued_at, b.last_read_at, $5, b.message, b.headers from back b
             order by b.msg_id
            $q$, core_private.queue_relation(p_queue))
          using p_queue, r.low, r.high, p_limit - v_total, v_now;
        get diagnostics v_n = row_count;
        v_total := v_total + v_n;
    end loop;
    if v_total > 0 then
        perform core_private.wake(p_queue, v_now);
    end if;
    return v_total;
end $$;
comment on function core_private.pull_back(text, text[], integer) is 'Puts up to p_limit parked messages of the types given (patterns) back on their queue; returns how many. The caller holds the row of core_private.parking. Raises NX110.';
