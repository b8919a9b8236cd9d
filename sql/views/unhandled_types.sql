create or replace view core.unhandled_types with (security_barrier = true) as
select q.namespace, u.consumer, q.queue_name as queue, u.event_type, u.parked, u.oldest_enqueued_at, u.oldest_parked_at, u.handled, u.nodes_alive, u.given_up_in
  from core.queues q cross join lateral core_private.unhandled_types(q.queue_name) u
 where q.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.unhandled_types is 'Event types that no live node of their consumer handles and whose messages are parked: how many (up to 10,001 are counted; a hundred types a queue are listed, and what it has beyond that as one row without a type), since when, and how long nodes of the consumer must still live until the oldest becomes a dead letter. handled: a node handles the type by now, and they are on their way back.';
