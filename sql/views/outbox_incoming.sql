create or replace view core.outbox_incoming with (security_barrier = true) as
select c.namespace, c.name as queue, k.lane, p.id as message_id, p.key, p.body_type, p.bytes, p.created_at
  from core.consumers c
 cross join lateral core_private.lane_settings(c.consumer_id) k
 cross join lateral core_private.pending_of(k.lane_id, 10000) p
 where c.kind = 'outbox' and c.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.outbox_incoming is 'Messages that have not ended, up to 10,000 a lane, the oldest first; bodies are not shown.';
comment on column core.outbox_incoming.namespace is 'The namespace of the queue.';
comment on column core.outbox_incoming.queue is 'The outbox queue.';
comment on column core.outbox_incoming.lane is 'The lane.';
comment on column core.outbox_incoming.message_id is 'Its number in this database.';
comment on column core.outbox_incoming.key is 'What picked the lane; NULL: its id did.';
comment on column core.outbox_incoming.body_type is 'What the body is, in the words of whoever enqueued it.';
comment on column core.outbox_incoming.bytes is 'How large the body is.';
comment on column core.outbox_incoming.created_at is 'Database clock when it was enqueued.';
