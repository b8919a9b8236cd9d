create or replace view core.dead_letter_groups with (security_invoker = true) as
select l.namespace, l.consumer, l.source_kind, l.event_type, l.reason, count(*) as count, min(l.failed_at) as oldest, max(l.failed_at) as newest
  from core.dead_letters l
 where l.resolved_at is null
 group by l.namespace, l.consumer, l.source_kind, l.event_type, l.reason;
comment on view core.dead_letter_groups is 'Unresolved dead letters counted by what failed and why.';
comment on column core.dead_letter_groups.namespace is 'The namespace they belong to.';
comment on column core.dead_letter_groups.consumer is 'The consumer whose deliveries they were; NULL for what is none.';
comment on column core.dead_letter_groups.source_kind is 'What was given up: delivery, task, …';
comment on column core.dead_letter_groups.event_type is 'Event type of the events.';
comment on column core.dead_letter_groups.reason is 'Why they were given up.';
comment on column core.dead_letter_groups.count is 'How many.';
comment on column core.dead_letter_groups.oldest is 'failed_at of the oldest.';
comment on column core.dead_letter_groups.newest is 'failed_at of the newest.';
