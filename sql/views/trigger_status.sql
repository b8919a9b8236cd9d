create or replace view core.trigger_status with (security_barrier = true) as
select t.namespace, t.name, t.kind, t.mode, t.enabled, t.held, s.source, t.target, t.consumer,
       s.handled, s.principal_ok, s.failures, s.dead, s.drops,
       t.registered_by, s.retry, t.trigger_id, t.created_at, t.updated_at,
       b.state as match_back, b.done_to as match_back_done_to, b.bound as match_back_bound,
       b.delivered as match_back_delivered, b.waits_for as match_back_waits_for
  from core.triggers t
 cross join lateral core_private.trigger_state(t.trigger_id) s
  left join lateral core_private.match_backs_of(t.trigger_id) b on true
 where t.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.trigger_status is 'One row a trigger: what it goes by, where its deliveries go, and what is in their way.';
comment on column core.trigger_status.namespace is 'Its namespace.';
comment on column core.trigger_status.name is 'Its name.';
comment on column core.trigger_status.kind is 'What its source is: event, kv, dead_letter, cron or http.';
comment on column core.trigger_status.mode is 'async: it makes deliveries; sync: of kind http, requests whose reply is awaited; of other kinds it runs its function in the transaction that emits.';
comment on column core.trigger_status.enabled is 'Whether emits make deliveries by it.';
comment on column core.trigger_status.held is 'Whether its deliveries are set aside until it is enabled.';
comment on column core.trigger_status.source is 'What it goes by: the details of its kind, as core.create_trigger takes them, without the sum of a token.';
comment on column core.trigger_status.target is 'The handler that its deliveries name.';
comment on column core.trigger_status.consumer is 'The consumer by whose queue they go.';
comment on column core.trigger_status.handled is 'Whether a live node handles the target, or it is a function; else deliveries wait.';
comment on column core.trigger_status.principal_ok is 'Whether the role that created it may still have its deliveries; else they become dead letters. core.hand_over_triggers gives it another role.';
comment on column core.trigger_status.failures is 'Attempts at its deliveries that failed in seven days; 10,001 stands for more.';
comment on column core.trigger_status.dead is 'Its deliveries that are dead letters which nobody resolved; 10,001 stands for more.';
comment on column core.trigger_status.drops is 'Events of seven days that matched it, and lay too deep; 10,001 stands for more.';
comment on column core.trigger_status.registered_by is 'Who created or replaced it.';
comment on column core.trigger_status.retry is 'The retry policy of its deliveries.';
comment on column core.trigger_status.trigger_id is 'Its id.';
comment on column core.trigger_status.created_at is 'When it was created.';
comment on column core.trigger_status.updated_at is 'When it was last replaced, enabled or disabled.';
comment on column core.trigger_status.match_back is 'waiting (for transactions that were alive when it was asked to look back), running or done; NULL: it was never asked to.';
comment on column core.trigger_status.match_back_done_to is 'event_id up to which the log has been looked at.';
comment on column core.trigger_status.match_back_bound is 'event_id at which it ends; NULL while it waits.';
comment on column core.trigger_status.match_back_delivered is 'How many events it has delivered.';
comment on column core.trigger_status.match_back_waits_for is 'How many transactions it waits for; core.blockers names those that are old.';
