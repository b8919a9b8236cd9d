create or replace view core.unresolved_dead_letters with (security_invoker = true) as
select l.dead_letter_id, l.namespace, l.consumer, l.event_type, l.source_kind, l.reason,
       l.attempts, l.failed_at, l.last_error, l.event_id, l.event_uid,
       l.queue_name, l.msg_id, l.dlq_msg_id, l.payload, l.status, l.round, l.replay_of,
       l.handler_failed_at, l.handler_failures, l.handler_error,
       l.envelope ->> 'trigger' as trigger, l.envelope ->> 'triggerId' as trigger_id,
       case when l.envelope ? 'sourceType' then l.envelope ->> 'eventType' end as target
  from core.dead_letters l
 where l.resolved_at is null;
comment on view core.unresolved_dead_letters is 'Dead letters nobody has replayed, discarded or resolved yet.';
comment on column core.unresolved_dead_letters.dead_letter_id is 'Identifies it; what core.replay_dead_letter and the others take.';
comment on column core.unresolved_dead_letters.namespace is 'The namespace it belongs to.';
comment on column core.unresolved_dead_letters.consumer is 'The consumer whose delivery it was; NULL for what is none.';
comment on column core.unresolved_dead_letters.event_type is 'Event type of the event; unknown.raw for a message that was no envelope.';
comment on column core.unresolved_dead_letters.source_kind is 'What was given up: delivery, task, …';
comment on column core.unresolved_dead_letters.reason is 'Why, in a word or two.';
comment on column core.unresolved_dead_letters.attempts is 'Attempts that were used up.';
comment on column core.unresolved_dead_letters.failed_at is 'When it was given up.';
comment on column core.unresolved_dead_letters.last_error is 'Error text of the last attempt.';
comment on column core.unresolved_dead_letters.event_id is 'event_id of the log; NULL where the message named none.';
comment on column core.unresolved_dead_letters.event_uid is 'event_uid of the event.';
comment on column core.unresolved_dead_letters.queue_name is 'The queue it was taken from; NULL for what is no delivery.';
comment on column core.unresolved_dead_letters.msg_id is 'The message it was on that queue.';
comment on column core.unresolved_dead_letters.dlq_msg_id is 'The copy on the dead-letter queue; it may be gone.';
comment on column core.unresolved_dead_letters.payload is 'Payload of the event, or the whole message that was no envelope.';
comment on column core.unresolved_dead_letters.status is 'pending, or reprocessing: claimed by a handler of dead letters.';
comment on column core.unresolved_dead_letters.round is 'How often the same source has been buried before.';
comment on column core.unresolved_dead_letters.replay_of is 'The dead letter whose replay was buried here.';
comment on column core.unresolved_dead_letters.handler_failed_at is 'When the handler of a trigger last failed at it; NULL: none has.';
comment on column core.unresolved_dead_letters.handler_failures is 'How many handlers of triggers failed at it.';
comment on column core.unresolved_dead_letters.handler_error is 'Error text of the last of them.';
comment on column core.unresolved_dead_letters.trigger is 'The trigger that made the delivery; NULL: none did.';
comment on column core.unresolved_dead_letters.trigger_id is 'Its id.';
comment on column core.unresolved_dead_letters.target is 'The key of the handler that the delivery named; NULL: none.';
