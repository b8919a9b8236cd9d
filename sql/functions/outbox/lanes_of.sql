create or replace function core_private.lanes_of(p_consumer_id integer)
returns table (
    lane_id integer, lane integer, strict boolean, profile text, max_body_bytes integer)
language sql stable security definer rows 8
set search_path = pg_catalog, pg_temp
as $$
    select l.lane_id, l.lane, q.strict, q.profile, q.max_body_bytes
      from core.consumers c
      join core_private.outbox_queues q on q.consumer_id = c.consumer_id
      join core_private.consumer_lanes l on l.consumer_id = c.consumer_id and l.generation = c.generation
     where c.consumer_id = p_consumer_id
$$;
comment on function core_private.lanes_of(integer) is 'The lanes of an outbox queue, with its settings. Whoever calls it has asked whether the caller may know.';
