-- Messages bear their ids where the queue's table does not reach: parked, delayed, linked to tasks, in dead
-- letters, in the hands of a node. A new message under one of these would be taken for the old one, and one below
-- the floors of the nodes for nothing new. What was only ever on the queue has left no trace but the numbers of
-- events, of which each draws one id at most; what was sent by hand not even that. Hence the full million beyond.
create or replace function core_private.above_known_ids(p_queue text)
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
    select (greatest(
        (select s.last_value from core.event_id_seq s),
        (select max(p.msg_id % 1000000000000000) from core.parked p where p.queue_name = p_queue),
        (select max(d.msg_id % 1000000000000000) from core.delayed d where d.queue_name = p_queue),
        (select max(t.msg_id % 1000000000000000) from core_private.task_deliveries t where t.queue_name = p_queue),
        (select max(b.highest % 1000000000000000) from core_private.express_batches b where b.queue_name = p_queue),
        (select max(l.msg_id % 1000000000000000) from core.dead_letters l where l.queue_name = p_queue),
        (select max(l.replay_msg_id % 1000000000000000) from core.dead_letters l
           join core.consumers c on c.namespace = l.namespace and c.name = l.consumer where c.queue_name = p_queue),
        (select max(l.dlq_msg_id) from core.dead_letters l
           join core.queues q on q.namespace = l.namespace and q.consumer_id is null and q.dropped_at is null
          where q.queue_name = p_queue),
        0) / 1000000 + 1) * 1000000 + 1
$$;
comment on function core_private.above_known_ids(text) is 'A message id that is above all that anything still refers to on this queue.';
