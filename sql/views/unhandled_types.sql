create or replace view core.unhandled_types with (security_barrier = true) as
select q.namespace, u.consumer, q.queue_name, u.event_type, u.parked, u.oldest_enqueued_at, u.oldest_parked_at,
       u.handled, u.nodes_alive, u.given_up_in
  from core.queues q
 cross join lateral core_private.unhandled_types(q.queue_name) u
 where q.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.unhandled_types is 'Event types that no live node of their consumer handles and whose messages are parked: how many (up to 10,001 are counted; a hundred types a queue are listed, and what it has beyond that as one row without a type), since when, and how long nodes of the consumer must still live until the oldest becomes a dead letter. handled: a node handles the type by now, and they are on their way back.';
comment on column core.unhandled_types.namespace is 'The namespace of the queue.';
comment on column core.unhandled_types.consumer is 'The consumer that has no node for them.';
comment on column core.unhandled_types.queue_name is 'The queue they were taken from.';
comment on column core.unhandled_types.event_type is 'The event type; NULL in the row for all types beyond a hundred.';
comment on column core.unhandled_types.parked is 'How many messages; 10,001 stands for more.';
comment on column core.unhandled_types.oldest_enqueued_at is 'When the oldest came to the queue.';
comment on column core.unhandled_types.oldest_parked_at is 'When the oldest was parked.';
comment on column core.unhandled_types.handled is 'Whether a live node handles the type by now; they are on their way back then.';
comment on column core.unhandled_types.nodes_alive is 'Whether the consumer has a live node at all.';
comment on column core.unhandled_types.given_up_in is 'How long nodes of the consumer must still live until the oldest becomes a dead letter.';
