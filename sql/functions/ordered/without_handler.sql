create or replace function core_private.without_handler(p_consumer_id integer, p_lane_id integer)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select m.body_type
      from core_private.now() t(now)
     cross join core.consumers c
     cross join lateral core_private.pending_in_lane(core_private.lane_now(p_lane_id), 1) m
     where c.consumer_id = p_consumer_id and c.kind = 'ordered'
       and not core_private.is_handled(c.namespace, c.name, m.body_type, t.now)
$$;
comment on function core_private.without_handler(integer, integer) is 'The type of the event that a lane of an ordered consumer stands at, if no live node handles it; else NULL. Whoever calls it has asked whether the caller may know.';
