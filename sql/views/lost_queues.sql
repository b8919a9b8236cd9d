-- One condition around both: that of a UNION ALL by itself is no barrier.
create or replace view core.lost_queues with (security_barrier = true) as
select l.namespace, l.queue_name, l.missing
  from (select q.namespace, q.queue_name, m.missing
          from core.queues q
         cross join lateral core_private.missing_parts(q.queue_name) m (missing)
         where m.missing <> '{}' and q.dropped_at is null
        union all
        select n.namespace, u.queue_name, array['registry']
          from core.namespaces n
         cross join lateral core_private.unregistered_queues(n.namespace) u) l
 where l.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.lost_queues is 'Queues of which somebody dropped or deleted something. missing has queue (the table: nothing is emitted, handled or buried there, NX110), archive or meta (the row of pgmq.meta), on which pgmq''s own functions rest, or registry (the row of core.queues or of core.consumers, without which nothing is claimed, NX103). core.create_namespace makes them again.';
comment on column core.lost_queues.namespace is 'The namespace of the queue.';
comment on column core.lost_queues.queue_name is 'The queue.';
comment on column core.lost_queues.missing is 'What is missing of it: queue, archive, meta, or registry.';
