-- Who enqueues finds the lane of each message without asking for it.

alter table core_private.outbox_queues add lane_ids integer[] not null default '{}';
update core_private.outbox_queues q
   set lane_ids = array(select l.lane_id
                          from core_private.consumer_lanes l
                          join core.consumers c on c.consumer_id = l.consumer_id and c.generation = l.generation
                         where l.consumer_id = q.consumer_id
                         order by l.lane);
comment on column core_private.outbox_queues.lane_ids is 'Its lanes of core_private.consumer_lanes as they are now, that with the number 0 first.';
