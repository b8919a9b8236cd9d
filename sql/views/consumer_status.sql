create or replace view core.consumer_status with (security_barrier = true) as
select c.namespace, c.name as consumer, c.kind, c.state, c.patterns, c.queue_name, c.starts_from, c.retry,
       c.unhandled_after, c.max_in_flight, c.rate, c.exhausted, c.created_at,
       b.state as backfill, b.done_to as backfill_done_to, b.bound as backfill_bound, b.delivered as backfill_delivered,
       b.waits_for as backfill_waits_for, b.created_at as backfill_created_at,
       l.in_flight, l.tokens, c.levels, c.routed, c.lanes
  from core.consumers c
  left join lateral core_private.backfills_of(c.consumer_id) b on true
  left join lateral (
    select x.in_flight, x.tokens
      from core_private.limits_of(c.consumer_id) x
     where c.max_in_flight is not null or c.rate is not null) l on true
 where c.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.consumer_status is 'One row a consumer, with what it was created with and how far its latest backfill has come, and what its limits leave room for.';
comment on column core.consumer_status.namespace is 'The namespace whose events it gets.';
comment on column core.consumer_status.consumer is 'Its name.';
comment on column core.consumer_status.kind is 'unordered; ordered: its events are in lanes, core.lane_status; outbox: a queue of core.outbox_status.';
comment on column core.consumer_status.state is 'active; paused: it gets its events, and nobody is given any.';
comment on column core.consumer_status.patterns is 'Types of events that it gets.';
comment on column core.consumer_status.queue_name is 'Its queue.';
comment on column core.consumer_status.starts_from is 'Where in the log it began: now, beginning, or a time.';
comment on column core.consumer_status.retry is 'Its retry policy; a missing key takes that of the namespace.';
comment on column core.consumer_status.unhandled_after is 'As that of the namespace, which holds where this is NULL.';
comment on column core.consumer_status.max_in_flight is 'Most deliveries in hand at once, over all nodes; NULL: no limit.';
comment on column core.consumer_status.rate is 'Most deliveries in a time, over all nodes; NULL: no limit.';
comment on column core.consumer_status.exhausted is 'What happens to a delivery whose attempts are used up.';
comment on column core.consumer_status.created_at is 'Database clock when it was created.';
comment on column core.consumer_status.backfill is 'waiting (for transactions that were alive when it was asked for), running or done; NULL: there was none.';
comment on column core.consumer_status.backfill_done_to is 'event_id up to which the log has been looked at.';
comment on column core.consumer_status.backfill_bound is 'event_id at which it ends; NULL while it waits.';
comment on column core.consumer_status.backfill_delivered is 'How many events it has delivered.';
comment on column core.consumer_status.backfill_waits_for is 'How many transactions it waits for; core.blockers names those that are old.';
comment on column core.consumer_status.backfill_created_at is 'When it was asked for.';
comment on column core.consumer_status.in_flight is 'How many deliveries are in hand now, where max_in_flight limits them; NULL: no such limit, or its queue is locked or missing.';
comment on column core.consumer_status.tokens is 'How many deliveries its rate leaves room for at once; NULL: no such limit.';
comment on column core.consumer_status.levels is 'How many levels its queue has: the priorities that it tells apart.';
comment on column core.consumer_status.lanes is 'How many lanes it has; NULL: it is unordered.';
comment on column core.consumer_status.routed is 'Whether it has no patterns: each of its deliveries names a handler of core.handlers.';
