-- Queues are counted one at a time, so that a query for one queue, or for those of a namespace, does not count all.
-- The planner takes a function that is scanned again for one that gives its rows for nothing, but not a sub-select
-- around it.
create or replace view core.queue_metrics with (security_barrier = true) as
select q.queue_name, m.queue_length, m.newest_msg_age_seconds, m.oldest_msg_age_seconds,
       m.visible, m.in_flight, m.waiting, m.delayed, m.parked, m.length_is_estimate,
       q.namespace
  from core.queues q
 cross join lateral (select c.* from core_private.count_queue(q.queue_name) c offset 0) m
 where q.dropped_at is null and q.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.queue_metrics is 'One row a queue: length, ages, and how many wait for what. Exact up to 10,000 messages, estimates beyond; NULL while somebody holds a lock on the queue that forbids reading, and for one that has lost its table, which core.lost_queues tells.';
comment on column core.queue_metrics.queue_name is 'The queue, by its name in pgmq.';
comment on column core.queue_metrics.queue_length is 'Messages on the queue: visible, in_flight and waiting. What is delayed or parked is not on it.';
comment on column core.queue_metrics.newest_msg_age_seconds is 'Seconds since the newest message came; NULL when empty.';
comment on column core.queue_metrics.oldest_msg_age_seconds is 'Seconds since the oldest message came; NULL when empty.';
comment on column core.queue_metrics.visible is 'Messages that a claim would be given now.';
comment on column core.queue_metrics.in_flight is 'Messages that are leased.';
comment on column core.queue_metrics.waiting is 'Messages on the queue that are not due yet: a retry, a release or a delay.';
comment on column core.queue_metrics.delayed is 'Deliveries that wait in core.delayed until they are due; 10,001 stands for more.';
comment on column core.queue_metrics.parked is 'Messages in core.parked, of types that no live node handles; 10,001 stands for more.';
comment on column core.queue_metrics.length_is_estimate is 'Whether there are over 10,000 messages, and the numbers estimates.';
comment on column core.queue_metrics.namespace is 'The namespace of the queue.';
