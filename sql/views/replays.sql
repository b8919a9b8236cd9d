create or replace view core.replays with (security_barrier = true) as
select r.namespace, r.replay_id, c.name as consumer, r.filter, r.most, r.rate,
       case when r.finished_at is null then 'running' else 'done' end as state,
       r.looked, r.delivered, r.position as done_to, r.bound, r.created_by, r.created_at, r.finished_at
  from core_private.replays r
  join core.consumers c using (consumer_id)
 where r.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.replays is 'One row a replay of events, until 30 days after its end.';
comment on column core.replays.namespace is 'The namespace of the events and of the consumer.';
comment on column core.replays.replay_id is 'Its name, unique in the namespace.';
comment on column core.replays.consumer is 'Who gets the events.';
comment on column core.replays.filter is 'Which events, as they were asked for.';
comment on column core.replays.most is 'How many at most; NULL: all.';
comment on column core.replays.rate is 'Most deliveries in a time; NULL: no limit.';
comment on column core.replays.state is 'running or done. It goes on when core.replay_events is called with its replay_id.';
comment on column core.replays.looked is 'Rows of the log looked at, those of other namespaces too.';
comment on column core.replays.delivered is 'How many events it has delivered.';
comment on column core.replays.done_to is 'event_id up to which the log has been looked at.';
comment on column core.replays.bound is 'event_id at which it ends.';
comment on column core.replays.created_by is 'Who began it.';
comment on column core.replays.created_at is 'When it began.';
comment on column core.replays.finished_at is 'When it had come to its end; NULL before.';
