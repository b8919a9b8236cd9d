create or replace function core_private.lanes_of_consumer(p_consumer_id integer)
returns table (
    lane_id integer, lane integer, generation integer, latest boolean, waits boolean, strict boolean, profile text,
    max_body_bytes integer)
language sql stable security definer rows 8
set search_path = pg_catalog, pg_temp
as $$
    select l.lane_id, l.lane, l.generation, l.generation = c.generation, g.waits, q.strict, q.profile, q.max_body_bytes
      from core.consumers c
      join core_private.outbox_queues q on q.consumer_id = c.consumer_id
     cross join lateral (
        select x.generation, core_private.lanes_wait(c.consumer_id, x.generation) as waits
          from (select distinct y.generation from core_private.consumer_lanes y where y.consumer_id = c.consumer_id) x
        offset 0) g
      join core_private.consumer_lanes l on l.consumer_id = c.consumer_id and l.generation = g.generation
     where c.consumer_id = p_consumer_id
$$;
comment on function core_private.lanes_of_consumer(integer) is 'The lanes of an outbox queue or an ordered consumer, with its settings. Whoever calls it has asked whether the caller may know.';
