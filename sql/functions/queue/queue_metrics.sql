create or replace function core_private.queue_metrics()
returns table (queue_name text, queue_length bigint, newest_msg_age_seconds integer, oldest_msg_age_seconds integer,
               visible bigint, in_flight bigint, waiting bigint, delayed bigint, parked bigint, length_is_estimate boolean)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select c.* from core_private.count_queues(core.visible_namespaces()) c
$$;
comment on function core_private.queue_metrics() is 'One row a queue the caller may see.';
