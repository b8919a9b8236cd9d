-- Bounded: types are found by skipping along the primary key, a thousand at most, and each is counted up to 10,001.
create or replace function core_private.unhandled_types()
returns table (namespace text, consumer text, queue text, event_type text, parked bigint, oldest_enqueued_at timestamptz, oldest_parked_at timestamptz,
               handled boolean, nodes_alive boolean, given_up_in interval)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_names text[] := core.visible_namespaces();
begin
    return query
    with recursive t as (
        (select p.queue, p.event_type from core.parked p order by p.queue, p.event_type limit 1)
        union all
        select n.queue, n.event_type from t cross join lateral (
            select p.queue, p.event_type from core.parked p where (p.queue, p.event_type) > (t.queue, t.event_type) order by p.queue, p.event_type limit 1) n)
    select q.namespace, c.name, t.queue, t.event_type, m.parked, m.enqueued_at, m.parked_at,
           exists (select from unnest(l.patterns) x where core_private.matches(x, t.event_type)), l.patterns is not null,
           greatest(m.lived + coalesce(c.unhandled_after, s.unhandled_after) - k.lived, interval '0')
      from t
      join core.queues q on q.queue_name = t.queue and q.namespace = any (v_names)
      join core.consumers c on c.consumer_id = q.consumer_id
      join core.namespaces s on s.namespace = q.namespace
      join core_private.parking k on k.queue_name = t.queue
     cross join lateral (select core_private.live_patterns(q.namespace, c.name, v_now) as patterns) l
     cross join lateral (
        select count(*) as parked, min(x.enqueued_at) as enqueued_at, min(x.parked_at) as parked_at, min(x.lived) as lived
          from (select p.enqueued_at, p.parked_at, p.lived from core.parked p
                 where p.queue = t.queue and p.event_type = t.event_type order by p.msg_id limit 10001) x) m
     limit 1000;
end $$;
comment on function core_private.unhandled_types() is 'One row a queue and type that is parked and that the caller may see.';
