-- A namespace at a time, and in the order of dead_letters_groups_idx, which has all of it; reasons too long for that
-- come from the rows.
create or replace view core.dead_letter_groups with (security_invoker = false, security_barrier = true) as
select n.namespace, g.consumer, g.source_kind, g.event_type, g.reason, g.count, g.oldest, g.newest
  from core.namespaces n
 cross join lateral (
       select l.consumer, l.source_kind, l.event_type, l.reason,
              count(*) as count, min(l.failed_at) as oldest, max(l.failed_at) as newest
         from core.dead_letters l
        where l.namespace = n.namespace and l.resolved_at is null and octet_length(l.reason) <= 200
        group by l.event_type, l.consumer, l.source_kind, l.reason
       union all
       select l.consumer, l.source_kind, l.event_type, l.reason,
              count(*), min(l.failed_at), max(l.failed_at)
         from core.dead_letters l
        where l.namespace = n.namespace and l.resolved_at is null and octet_length(l.reason) > 200
        group by l.event_type, l.consumer, l.source_kind, l.reason) g
 where n.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.dead_letter_groups is 'Unresolved dead letters counted by what failed and why.';
comment on column core.dead_letter_groups.namespace is 'The namespace they belong to.';
comment on column core.dead_letter_groups.consumer is 'The consumer whose deliveries they were; NULL for what is none.';
comment on column core.dead_letter_groups.source_kind is 'What was given up: delivery, task, …';
comment on column core.dead_letter_groups.event_type is 'Event type of the events.';
comment on column core.dead_letter_groups.reason is 'Why they were given up.';
comment on column core.dead_letter_groups.count is 'How many.';
comment on column core.dead_letter_groups.oldest is 'failed_at of the oldest.';
comment on column core.dead_letter_groups.newest is 'failed_at of the newest.';
