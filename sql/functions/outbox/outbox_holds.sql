create or replace function core_private.outbox_holds(p_consumer_id integer)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select exists (
        select
          from core_private.consumer_lanes c
         cross join lateral core_private.lane_now(c.lane_id) l
         where c.consumer_id = p_consumer_id
           and case when core_private.of_another_server(l, core_private.cluster_id())
                    then exists (select from core_private.lane_messages m where m.lane_id = l.lane_id)
                    else exists (select from core_private.pending_in_lane(l, 1)) end)
$$;
comment on function core_private.outbox_holds(integer) is 'Whether an outbox queue has messages that have not ended; of one that was restored from a dump, whether it has any.';
