create or replace function core.promote_delayed(p_limit integer = 1000)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    v_now   timestamptz := core_private.now();
    v_at    timestamptz := transaction_timestamp(); -- as pgmq has it
    v_total integer := 0;
    r       record;
begin
    if p_limit is null or p_limit not between 1 and 100000 then
        raise exception using errcode = 'NX006', column = 'p_limit', message = format('p_limit cannot be %s', coalesce(p_limit::text, 'NULL')), hint = 'Give 1 to 100000.';
    end if;
    -- A drop of a namespace locks the queues before it deletes what is delayed.
    if not pg_try_advisory_xact_lock_shared(hashtext('nexus'), hashtext('delayed')) then
        return 0;
    end if;
    -- A row a queue, not a row a message: each queue is one insert.
    for r in
        with due as materialized (
            select d.ctid as tid from core.delayed d where d.due_at <= v_now order by d.due_at limit p_limit for update skip locked),
        gone as (
            delete from core.delayed d using due where d.ctid = due.tid returning d.*)
        select g.queue_name, count(*)::integer as n, array_agg(g.message order by g.due_at, g.delayed_id) as messages,
               array_agg(case when g.msg_id is null then coalesce(g.headers, '{}') || jsonb_build_object('nexus-due', core_private.iso(g.due_at)) else g.headers end
                         order by g.due_at, g.delayed_id) as headers,
               array_agg(g.msg_id order by g.due_at, g.delayed_id) as ids, array_agg(g.read_ct order by g.due_at, g.delayed_id) as cts,
               array_agg(g.enqueued_at order by g.due_at, g.delayed_id) as enqueued, array_agg(g.last_read_at order by g.due_at, g.delayed_id) as last_read
          from gone g group by g.queue_name order by g.queue_name
    loop
        -- What was on the queue before is the message it was; the others are new.
        execute format('insert into %s (msg_id, read_ct, enqueued_at, last_read_at, vt, message, headers) overriding system value
            select coalesce(u.id, nextval(%L::regclass)), coalesce(u.ct, 0), coalesce(u.enqueued, $7), u.last_read, $1, u.m, u.h
              from unnest($2, $3, $4, $5, $6, $8) with ordinality u(m, h, id, ct, enqueued, last_read, n) order by u.n',
            core_private.queue_relation(r.queue_name), core_private.queue_sequence(r.queue_name))
          using v_now, r.messages, r.headers, r.ids, r.cts, r.enqueued, v_at, r.last_read;
        perform core_private.wake(r.queue_name, v_now);
        v_total := v_total + r.n;
    end loop;
    return v_total;
end $$;
comment on function core.promote_delayed(integer) is 'Moves up to p_limit deliveries that have become due to their queues; returns how many. Raises NX006.';
