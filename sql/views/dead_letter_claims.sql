create or replace view core.dead_letter_claims with (security_invoker = true) as
select l.dead_letter_id, l.namespace, l.consumer, l.event_type, l.source_kind, l.reason, l.attempts,
       l.claimed_by, l.deadline, l.deadline <= (select core.now()) as expired
  from core.dead_letters l
 where l.status = 'reprocessing';
comment on view core.dead_letter_claims is 'Dead letters that somebody has claimed, and claims whose time is over and that nobody has taken up since.';
comment on column core.dead_letter_claims.dead_letter_id is 'Identifies the dead letter.';
comment on column core.dead_letter_claims.namespace is 'The namespace it belongs to.';
comment on column core.dead_letter_claims.consumer is 'The consumer whose delivery it was; NULL for what is none.';
comment on column core.dead_letter_claims.event_type is 'Event type of the event.';
comment on column core.dead_letter_claims.source_kind is 'What was given up: delivery, task, …';
comment on column core.dead_letter_claims.reason is 'Why, in a word or two.';
comment on column core.dead_letter_claims.attempts is 'Attempts that were used up, those of rejected claims among them.';
comment on column core.dead_letter_claims.claimed_by is 'Who claimed it: the session user, with the role set, if any.';
comment on column core.dead_letter_claims.deadline is 'Until when the claim holds.';
comment on column core.dead_letter_claims.expired is 'Whether its time is over: the dead letter counts as pending.';
