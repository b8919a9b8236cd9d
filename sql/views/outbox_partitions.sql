create or replace view core.outbox_partitions with (security_barrier = true) as
select l.lane_id as id, c.namespace, c.name as queue, l.lane as partition, l.seq as sequence
  from core.consumers c
 cross join lateral core_private.lane_states(c.consumer_id, 0) l
 where c.kind = 'outbox' and c.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.outbox_partitions is 'Lanes under the names of other outboxes; core.lane_status says more.';
comment on column core.outbox_partitions.id is 'lane_id.';
comment on column core.outbox_partitions.namespace is 'The namespace of the queue.';
comment on column core.outbox_partitions.queue is 'The outbox queue.';
comment on column core.outbox_partitions.partition is 'The lane, from 0 on.';
comment on column core.outbox_partitions.sequence is 'The number of the last message that has ended.';
