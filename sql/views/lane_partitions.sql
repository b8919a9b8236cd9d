create or replace view core.lane_partitions with (security_barrier = true) as
select h.relation as partition, h.bytes, h.full_at, h.emptied_at, h.kind, o.namespace, o.queue, o.lane,
       h.pid, h.name, h.role_name, h.application, h.state, h.since, core.now() - h.since as age
  from core_private.lane_partition_holders() h
  left join lateral (
    select h.namespace, h.queue_name as queue, h.lane
     where h.namespace = any ((select core_private.namespaces_read_by(current_user))::text[])) o on true;
comment on view core.lane_partitions is 'Full partitions of messages of lanes, of all namespaces, which are dropped when no lane has anything left in them: a row for each of those that keep one. Without any the next sweep drops it. Ended by: the lane going on (core.lane_status), select pg_terminate_backend(pid), or rollback prepared.';
comment on column core.lane_partitions.partition is 'Table in core_private.';
comment on column core.lane_partitions.bytes is 'Size with indexes.';
comment on column core.lane_partitions.full_at is 'When it was first seen that all its ids had been drawn.';
comment on column core.lane_partitions.emptied_at is 'When its messages were removed, so that it takes no more room: it is dropped when nobody is enqueuing for a moment; NULL: they are there.';
comment on column core.lane_partitions.kind is 'What keeps it: lane (messages of it have not ended), transaction (it began before the partition was full and may write to it), prepared transaction, lock (who has used lanes in a transaction that is open; kept from dropping it); NULL: nothing.';
comment on column core.lane_partitions.namespace is 'Of kind lane: its namespace; NULL where the reader may not know.';
comment on column core.lane_partitions.queue is 'The outbox queue or ordered consumer.';
comment on column core.lane_partitions.lane is 'The lane; one of them, if there are more.';
comment on column core.lane_partitions.pid is 'Server process, for pg_terminate_backend; NULL where there is none.';
comment on column core.lane_partitions.name is 'Name of the prepared transaction.';
comment on column core.lane_partitions.role_name is 'Login of the session, or owner of the prepared transaction.';
comment on column core.lane_partitions.application is 'application_name of the session.';
comment on column core.lane_partitions.state is 'State of the session as in pg_stat_activity; prepared.';
comment on column core.lane_partitions.since is 'Begin of its transaction.';
comment on column core.lane_partitions.age is 'Time since then.';
