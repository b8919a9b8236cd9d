-- Queue by queue, the one that has waited longest first, so that one on which somebody holds a lock
-- keeps nobody else waiting: it is passed over, after a moment for the first such, at once for others.
-- Queues are found by skipping along the index.
create or replace function core_node.promote_delayed(p_limit integer = 1000)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set lock_timeout = '50ms'
as $$
declare
    v_now    timestamptz := core_private.now();
    v_at     timestamptz := transaction_timestamp(); -- as pgmq has it
    v_end    timestamptz := clock_timestamp() + interval '2 seconds';
    v_closed text[];
    v_total  integer := 0;
    v_n      integer;
    r        record;
begin
    perform core_private.check_number(p_limit, 'p_limit', 1, 100000);
    if not exists (select from core.delayed d where d.due_at <= v_now) then
        return 0;
    end if;
    v_closed := core_private.closed_queues();
    for r in
        with recursive s as (
            (select d.queue_name, d.due_at from core.delayed d order by d.queue_name, d.due_at limit 1)
            union all
            select n.queue_name, n.due_at
              from s
             cross join lateral (
                select d.queue_name, d.due_at
                  from core.delayed d
                 where d.queue_name > s.queue_name
                 order by d.queue_name, d.due_at limit 1) n)
        select s.queue_name, core_private.queue_relation(s.queue_name) as relation,
               core_private.next_id_sql(s.queue_name, 'g.message') as next_id
          from s
         where s.due_at <= v_now and s.queue_name <> all (v_closed)
           and to_regclass(core_private.queue_relation(s.queue_name)) is not null
         order by s.due_at, s.queue_name limit 100
    loop
        exit when v_total >= p_limit;
        begin
            -- What was on the queue before is the message it was; the others are new. An id that somebody took by
            -- hand stays his.
            execute format($q$
                with due as materialized (
                    select d.ctid as tid
                      from core.delayed d
                     where d.queue_name = $1 and d.due_at <= $2
                     order by d.due_at limit $3 for update skip locked),
                gone as (
                    delete from core.delayed d
                     using due
                     where d.ctid = due.tid
                    returning d.*),
                back as (
                    insert into %1$s (msg_id, read_ct, enqueued_at, last_read_at, vt, message, headers)
                           overriding system value
                    select case when g.msg_id is null or exists (select from %1$s x where x.msg_id = g.msg_id)
                                then %2$s else g.msg_id end,
                           coalesce(g.read_ct, 0), coalesce(g.enqueued_at, $4), g.last_read_at, $2, g.message,
                           case when g.msg_id is null
                                then core_private.headers_object(g.headers)
                                     || jsonb_build_object('nexus-due', core_private.iso(g.due_at))
                                else g.headers end
                      from (select * from gone order by gone.due_at, gone.delayed_id) g
                    returning 1)
                select count(*)::integer from back
                $q$, r.relation, r.next_id)
               into v_n
              using r.queue_name, v_now, p_limit - v_total, v_at;
        exception when lock_not_available or undefined_table then
            perform set_config('lock_timeout', '1ms', true);
            continue;
        end;
        if v_n > 0 then
            perform core_private.wake(r.queue_name, v_now);
        end if;
        v_total := v_total + v_n;
        exit when clock_timestamp() > v_end;
    end loop;
    return v_total;
end $$;
comment on function core_node.promote_delayed(integer) is 'Moves up to p_limit deliveries that have become due to up to 100 queues, those longest due first; returns how many. What is due on a queue that somebody has locked waits for another call, on one without a table until that is there again, and so do the restricted namespaces in which the caller may neither consume nor operate. Raises NX006.';
