-- Behind a CTE src with the columns message, event_type and headers, and one for the message id.
create or replace function core_private.lanes_plan(
    p_consumer_id integer, p_id text, p_now text = '$1', p_lanes text = null)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select format($q$,
        l%1$s as materialized (
            select x.ids
              from (%3$s) x(ids)),
        q%1$s as (
            insert into core_private.lane_messages (lane_id, id, xid, key, body, body_type, headers, created_at)
            select core_private.lane_of(l.ids, e.message ->> 'orderingKey', e.%2$s),
                   e.%2$s, pg_current_xact_id(), e.message ->> 'orderingKey', convert_to(e.message::text, 'UTF8'),
                   e.event_type, e.headers, %4$s
              from src e
             cross join l%1$s l
             where e.%2$s is not null
            returning 1)$q$, p_consumer_id, p_id,
        coalesce(p_lanes, format('select q.lane_ids from core_private.outbox_queues q where q.consumer_id = %s',
                                 p_consumer_id)),
        p_now)
$$;
comment on function core_private.lanes_plan(integer, text, text, text) is 'The part of a statement that delivers the events of its CTE src to an ordered consumer, as text.';
