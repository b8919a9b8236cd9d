create or replace view core.lost_queues with (security_barrier = true) as
select q.namespace, q.queue_name, m.missing
  from core.queues q cross join lateral core_private.missing_parts(q.queue_name) m (missing)
 where q.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]) and m.missing <> '{}';
comment on view core.lost_queues is 'Registered queues whose tables somebody dropped. missing has queue (the table: nothing is emitted, handled or buried there, NX110), archive or meta (the row of pgmq.meta), on which pgmq''s own functions rest. core.create_namespace makes them again.';
comment on column core.lost_queues.namespace is 'The namespace of the queue.';
comment on column core.lost_queues.queue_name is 'The queue.';
comment on column core.lost_queues.missing is 'What is missing of it: queue, archive, meta.';
