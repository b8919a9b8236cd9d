create or replace view core.outbox_processor with (security_barrier = true) as
select l.lane_id as partition_id, l.seq as processed_seq, l.attempts, l.last_error, l.locked_by, l.locked_until
  from core.consumers c
 cross join lateral core_private.lane_states(c.consumer_id, 0) l
 where c.kind = 'outbox' and c.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.outbox_processor is 'How far lanes are under the names of other outboxes; core.lane_status says more.';
comment on column core.outbox_processor.partition_id is 'lane_id.';
comment on column core.outbox_processor.processed_seq is 'The number of the last message that has ended.';
comment on column core.outbox_processor.attempts is 'How often the next one has failed.';
comment on column core.outbox_processor.last_error is 'Of the last failure, while it is not overcome.';
comment on column core.outbox_processor.locked_by is 'The node that holds the lane, or held it last.';
comment on column core.outbox_processor.locked_until is 'When its lease ends or ended; NULL: it was given back.';
