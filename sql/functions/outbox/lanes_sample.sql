-- Bounded, since nodes ask for it all day: messages are counted to 10,001 a consumer, and one is looked at of each lane
-- that may have any.
create or replace function core_private.lanes_sample(p_namespace text)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    v_now     timestamptz := core_private.now();
    v_cluster bigint := core_private.cluster_id();
begin
    return (
        with lane as materialized (
            select k.consumer_id, n.l
              from core.consumers c
              join core_private.consumer_lanes k on k.consumer_id = c.consumer_id
             cross join lateral (
                 select v as l from core_private.lanes v where v.lane_id = k.lane_id order by v.ver desc limit 1) n
             where c.namespace = p_namespace),
        works as materialized (
            select c.consumer_id, core_private.lane_now(w.lane_id) as l
              from core.consumers c
             cross join lateral core_private.lanes_with_work(c.consumer_id, c.generation, true) w
             where c.namespace = p_namespace and c.kind <> 'unordered')
        select coalesce(jsonb_agg(
                   jsonb_build_object(
                       'consumer', c.name, 'messages', n.messages, 'blocked', s.blocked,
                       'stranded', case when o.stranded then n.messages else 0 end,
                       'lag_seconds', greatest(coalesce(extract(epoch from v_now - o.oldest), 0), 0),
                       'blocked_seconds', greatest(coalesce(extract(epoch from v_now - s.blocked_since), 0), 0))
                   order by c.name), '[]')
          from core.consumers c
         cross join lateral (
             select count(*) as lanes,
                    count(*) filter (where (x.l).blocked_since is not null
                                           or core_private.of_another_server(x.l, v_cluster)) as blocked,
                    min((x.l).blocked_since) as blocked_since
               from lane x
              where x.consumer_id = c.consumer_id) s
         cross join lateral (
             select min(p.created_at) as oldest,
                    coalesce(bool_or(p.created_at < u.before and (x.l).state = 'active' and (x.l).next_at < u.before
                                     and ((x.l).locked_until < u.before) is not false), false) as stranded
               from core_private.unworked_before(c.consumer_id) u(before)
              cross join works x
              cross join lateral core_private.pending_in_lane(x.l, 1) p
              where x.consumer_id = c.consumer_id) o
         cross join lateral (
             select count(*) as messages
               from (
                 select
                   from works x
                  cross join lateral core_private.pending_in_lane(x.l, 10001)
                  where x.consumer_id = c.consumer_id
                  limit 10001) y) n
         where c.namespace = p_namespace and s.lanes > 0);
end $$;
comment on function core_private.lanes_sample(text) is 'The lanes of a namespace by consumer: messages that have not ended (up to 10,001), the age of the oldest, how many lanes do not go on, and for how long, and how many of the messages wait for want of a processor.';
