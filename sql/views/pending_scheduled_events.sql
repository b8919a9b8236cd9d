create or replace view core.pending_scheduled_events with (security_invoker = true) as
select e.schedule_id, e.namespace, e.type as event_type, e.fire_at, e.due_at, greatest((select core.now()) - e.fire_at, interval '0') as late_by, e.attempts, e.last_error,
       e.payload, e.tags, e.metadata, e.message_timestamp, e.created_at, e.version, e.principal
  from core.scheduled_events e
 where e.status = 'pending';
comment on view core.pending_scheduled_events is 'One-shot events that have not fired yet. A retry has a due_at later than its fire_at.';
