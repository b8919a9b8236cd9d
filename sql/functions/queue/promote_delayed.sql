create or replace function core.promote_delayed(p_limit integer = 1000)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_total integer := 0;
    r       record;
begin
    if p_limit is null or p_limit not between 1 and 100000 then
        raise exception using errcode = 'NX006', column = 'p_limit', message = format('p_limit cannot be %s', coalesce(p_limit::text, 'NULL')), hint = 'Give 1 to 100000.';
    end if;
    -- A row a queue, not a row a message: each queue is one insert.
    for r in
        with due as (
            select d.delayed_id from core.delayed d where d.due_at <= v_now order by d.due_at limit p_limit for update skip locked),
        gone as (
            delete from core.delayed d using due where d.delayed_id = due.delayed_id returning d.*)
        select g.queue_name, array_agg(g.message order by g.due_at, g.delayed_id) as messages, array_agg(coalesce(g.headers, '{}') || jsonb_build_object('nexus-due', core_private.iso(g.due_at)) order by g.due_at, g.delayed_id) as headers, count(*)::integer as n
          from gone g group by g.queue_name order by g.queue_name
    loop
        execute format('insert into %s (vt, message, headers) select $1, u.m, u.h from unnest($2, $3) with ordinality u(m, h, n) order by u.n', core_private.queue_relation(r.queue_name))
          using v_now, r.messages, r.headers;
        perform core_private.wake(r.queue_name, v_now);
        v_total := v_total + r.n;
    end loop;
    return v_total;
end $$;
comment on function core.promote_delayed(integer) is 'Moves up to p_limit deliveries that have become due to their queues; returns how many. Raises NX006.';
