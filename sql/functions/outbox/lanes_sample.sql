-- Bounded, since nodes ask for it all day: messages are counted to 10,001 a consumer, and one of each lane is looked
-- at.
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
            select k.consumer_id, l
              from core.consumers c
              join core_private.consumer_lanes k on k.consumer_id = c.consumer_id
             cross join lateral core_private.lane_now(k.lane_id) l
             where c.namespace = p_namespace)
        select coalesce(jsonb_agg(
                   jsonb_build_object(
                       'consumer', c.name, 'messages', n.messages, 'blocked', s.blocked,
                       'lag_seconds', greatest(coalesce(extract(epoch from v_now - s.oldest), 0), 0),
                       'blocked_seconds', greatest(coalesce(extract(epoch from v_now - s.blocked_since), 0), 0))
                   order by c.name), '[]')
          from core.consumers c
         cross join lateral (
             select count(*) as lanes,
                    count(*) filter (where (x.l).blocked_since is not null
                                           or core_private.of_another_server(x.l, v_cluster)) as blocked,
                    min((x.l).blocked_since) as blocked_since, min(p.created_at) as oldest
               from lane x
               left join lateral core_private.pending_in_lane(x.l, 1) p on true
              where x.consumer_id = c.consumer_id) s
         cross join lateral (
             select count(*) as messages
               from (
                 select
                   from lane x
                  cross join lateral core_private.pending_in_lane(x.l, 10001)
                  where x.consumer_id = c.consumer_id
                  limit 10001) y) n
         where c.namespace = p_namespace and s.lanes > 0);
end $$;
comment on function core_private.lanes_sample(text) is 'The lanes of a namespace by consumer: messages that have not ended (up to 10,001), the age of the oldest, how many lanes do not go on, and for how long.';
