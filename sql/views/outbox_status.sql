create or replace view core.outbox_status with (security_barrier = true) as
select c.namespace, c.name as queue, c.state, c.lanes, q.strict, q.profile, q.max_body_bytes, c.retry, c.exhausted,
       c.created_at
  from core.consumers c
 cross join lateral (select * from core_private.lane_settings(c.consumer_id) l where l.latest and l.lane = 0) q
 where c.kind = 'outbox' and c.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.outbox_status is 'One row an outbox queue, with what it was registered with.';
comment on column core.outbox_status.namespace is 'Its namespace.';
comment on column core.outbox_status.queue is 'Its name.';
comment on column core.outbox_status.state is 'active; paused: its messages wait.';
comment on column core.outbox_status.lanes is 'How many lanes it has.';
comment on column core.outbox_status.strict is 'Whether messages of a lane are in the order in which their transactions commit.';
comment on column core.outbox_status.profile is 'How its processors pace themselves.';
comment on column core.outbox_status.max_body_bytes is 'The largest body that it takes.';
comment on column core.outbox_status.retry is 'Its retry policy; a missing key takes that of the namespace.';
comment on column core.outbox_status.exhausted is 'What happens to a message whose attempts are used up: dead (ledger) or halt (the lane stops).';
comment on column core.outbox_status.created_at is 'Database clock when it was registered.';
