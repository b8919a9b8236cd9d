create or replace function core_private.lane_settings(p_consumer_id integer)
returns table (
    lane_id integer, lane integer, generation integer, latest boolean, strict boolean, profile text,
    max_body_bytes integer)
language sql stable security definer rows 8
set search_path = pg_catalog, pg_temp
as $$
    select l.lane_id, l.lane, l.generation, l.generation = c.generation, q.strict, q.profile, q.max_body_bytes
      from core.consumers c
      join core_private.outbox_queues q on q.consumer_id = c.consumer_id
      join core_private.consumer_lanes l on l.consumer_id = c.consumer_id
     where c.consumer_id = p_consumer_id
$$;
comment on function core_private.lane_settings(integer) is 'The lanes of an outbox queue or an ordered consumer, with its settings. Whoever calls it has asked whether the caller may know.';
