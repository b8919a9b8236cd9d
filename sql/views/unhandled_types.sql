create or replace view core.unhandled_types as
select u.namespace, u.consumer, u.queue, u.event_type, u.parked, u.oldest_enqueued_at, u.oldest_parked_at, u.handled, u.nodes_alive, u.given_up_in
  from core_private.unhandled_types() u;
comment on view core.unhandled_types is 'Event types that no live node of their consumer handles and whose messages are parked: how many (up to 10,001 are counted, a thousand types are listed), since when, and how long nodes of the consumer must still live until the oldest becomes a dead letter. handled: a node handles the type by now, and they are on their way back.';
