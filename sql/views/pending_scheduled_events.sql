create or replace view core.pending_scheduled_events with (security_invoker = true) as
select e.schedule_id, e.namespace, e.event_type,
       e.fire_at, e.due_at, greatest((select core.now()) - e.fire_at, interval '0') as late_by,
       e.attempts, e.last_error,
       e.payload, e.tags, e.metadata, e.message_timestamp, e.created_at, e.version, e.principal
  from core.scheduled_events e
 where e.status = 'pending';
comment on view core.pending_scheduled_events is 'One-shot events that have not fired yet. A retry has a due_at later than its fire_at.';
comment on column core.pending_scheduled_events.schedule_id is 'Identifies it; the event_uid of the event to come.';
comment on column core.pending_scheduled_events.namespace is 'The namespace it is emitted in.';
comment on column core.pending_scheduled_events.event_type is 'Event type of the event to come.';
comment on column core.pending_scheduled_events.fire_at is 'When the caller wants it.';
comment on column core.pending_scheduled_events.due_at is 'When it is tried: fire_at, moved by retries.';
comment on column core.pending_scheduled_events.late_by is 'Time since fire_at; 0 before.';
comment on column core.pending_scheduled_events.attempts is 'Failed attempts to emit it.';
comment on column core.pending_scheduled_events.last_error is 'SQLSTATE and text of the last failure.';
comment on column core.pending_scheduled_events.payload is 'Payload of the event to come.';
comment on column core.pending_scheduled_events.tags is 'Tags of the event to come.';
comment on column core.pending_scheduled_events.metadata is 'Options of the event: headers, ordering_key, producer, correlation_id, causation_uid.';
comment on column core.pending_scheduled_events.message_timestamp is 'authored_at of the event to come.';
comment on column core.pending_scheduled_events.created_at is 'When it was scheduled.';
comment on column core.pending_scheduled_events.version is 'Begins at 1; each reschedule adds one.';
comment on column core.pending_scheduled_events.principal is 'Who scheduled it; recorded with the event.';
