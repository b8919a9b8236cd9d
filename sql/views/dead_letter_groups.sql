create or replace view core.dead_letter_groups with (security_invoker = true) as
select l.namespace, l.consumer, l.source_kind, l.event_type, l.reason, count(*) as count, min(l.failed_at) as oldest, max(l.failed_at) as newest
  from core.dead_letters l
 where l.resolved_at is null
 group by l.namespace, l.consumer, l.source_kind, l.event_type, l.reason;
comment on view core.dead_letter_groups is 'Unresolved dead letters counted by what failed and why.';
