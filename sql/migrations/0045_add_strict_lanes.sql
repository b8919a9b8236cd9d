-- Who enqueues to a strict queue locks rows here. They had taken advisory locks, which any login can hold.
create table core_private.strict_lanes (
    lane_id  integer primary key references core_private.consumer_lanes on delete cascade
);
comment on table core_private.strict_lanes is 'The lanes of strict outbox queues. Whoever enqueues to one has its row locked until he commits.';
comment on column core_private.strict_lanes.lane_id is 'The lane.';
insert into core_private.strict_lanes (lane_id)
select l.lane_id
  from core_private.consumer_lanes l
  join core_private.outbox_queues q on q.consumer_id = l.consumer_id and q.strict;
