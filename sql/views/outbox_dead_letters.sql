create or replace view core.outbox_dead_letters with (security_barrier = true) as
select d.dead_letter_id, d.namespace, d.consumer as queue, d.lane, d.lane_seq as seq, d.ordering_key as key,
       d.body, d.body_type, d.reason, d.last_error, d.attempts, d.failed_at, d.resolution
  from core.dead_letters d
 where d.source_kind = 'lane' and d.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.outbox_dead_letters is 'Messages of lanes that were given up, from the one ledger, core.dead_letters.';
comment on column core.outbox_dead_letters.dead_letter_id is 'What core.replay_dead_letter and the others take.';
comment on column core.outbox_dead_letters.namespace is 'The namespace of the queue.';
comment on column core.outbox_dead_letters.queue is 'The outbox queue.';
comment on column core.outbox_dead_letters.lane is 'The lane it was in.';
comment on column core.outbox_dead_letters.seq is 'Its number in the lane.';
comment on column core.outbox_dead_letters.key is 'What picked the lane; NULL: its id did.';
comment on column core.outbox_dead_letters.body is 'What was enqueued.';
comment on column core.outbox_dead_letters.body_type is 'What the body is, in the words of whoever enqueued it.';
comment on column core.outbox_dead_letters.reason is 'Why it was given up.';
comment on column core.outbox_dead_letters.last_error is 'Of the last attempt.';
comment on column core.outbox_dead_letters.attempts is 'How often it was tried.';
comment on column core.outbox_dead_letters.failed_at is 'Database clock when it was given up.';
comment on column core.outbox_dead_letters.resolution is 'How that was settled; NULL: it is not.';
