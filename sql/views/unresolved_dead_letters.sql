create or replace view core.unresolved_dead_letters with (security_invoker = true) as
select l.dead_letter_id, l.namespace, l.consumer, l.event_type, l.source_kind, l.reason, l.attempts, l.failed_at, l.last_error, l.event_id, l.event_uid,
       l.queue, l.msg_id, l.dlq_msg_id, l.payload, l.status, l.round, l.replay_of
  from core.dead_letters l
 where l.resolved_at is null;
comment on view core.unresolved_dead_letters is 'Dead letters nobody has replayed, discarded or resolved yet.';
