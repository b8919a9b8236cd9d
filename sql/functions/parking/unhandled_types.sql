-- Bounded: types are found by skipping along the primary key, up to a hundred, and each is counted up
-- to 10,001. What there is beyond that is one row more, without a type. Of one queue, so that who asks
-- for one does not count those of all.
create or replace function core_private.unhandled_types(p_queue text)
returns table (
    consumer text, event_type text, parked bigint, oldest_enqueued_at timestamptz, oldest_parked_at timestamptz,
    handled boolean, nodes_alive boolean, given_up_in interval)
language plpgsql stable security definer cost 10000 rows 10
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now  timestamptz;
    v_most constant integer := 100;
begin
    if not exists (select from core.parked p where p.queue_name = p_queue) then
        return;
    end if;
    v_now := core_private.now();
    return query
    with recursive t as (
        (select p.event_type, 1 as n from core.parked p where p.queue_name = p_queue order by p.event_type limit 1)
        union all
        select n.event_type, t.n + 1 from t cross join lateral (
            select p.event_type from core.parked p
             where p.queue_name = p_queue and p.event_type > t.event_type and t.n <= v_most
             order by p.event_type limit 1) n)
    -- No type is greater than a tilde.
    select c.name, case when t.n <= v_most then t.event_type end, m.parked, m.enqueued_at, m.parked_at,
           t.n <= v_most and exists (select from unnest(l.patterns) x where core_private.matches(x, t.event_type)),
           l.patterns is not null,
           greatest(m.lived + coalesce(c.unhandled_after, s.unhandled_after) - k.lived, interval '0')
      from t
      join core.queues q on q.queue_name = p_queue
      join core.consumers c on c.consumer_id = q.consumer_id
      join core.namespaces s on s.namespace = q.namespace
      join core_private.parking k on k.queue_name = p_queue
     cross join lateral (select core_private.live_patterns(q.namespace, c.name, v_now) as patterns) l
     cross join lateral (
        select count(*) as parked, min(x.enqueued_at) as enqueued_at,
               min(x.parked_at) as parked_at, min(x.lived) as lived
          from (select p.enqueued_at, p.parked_at, p.lived
                  from core.parked p
                 where p.queue_name = p_queue and p.event_type >= t.event_type
                   and p.event_type <= case when t.n > v_most then '~' else t.event_type end
                 order by p.event_type, p.msg_id limit 10001) x) m;
end $$;
comment on function core_private.unhandled_types(text) is 'One row a type that is parked for the queue, up to a hundred, and one without a type for the rest. Whoever calls it has asked whether the caller may know.';
