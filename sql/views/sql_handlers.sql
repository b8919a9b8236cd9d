create or replace view core.sql_handlers with (security_barrier = true) as
select c.namespace, c.name as consumer, c.patterns, h.function, h.owner::text as owner, h.timeout, c.state,
       t.what as trouble, t.mend, h.created_by, h.created_at
  from core_private.sql_handlers h
  join core.consumers c on c.consumer_id = h.consumer_id
 cross join lateral core_private.handler_trouble(h.function, h.owner, c.namespace) t
 where c.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.sql_handlers is 'SQL functions that handle the events of a consumer, one row each, and why one is not called.';
comment on column core.sql_handlers.namespace is 'The namespace of the events.';
comment on column core.sql_handlers.consumer is 'The consumer whose events it gets.';
comment on column core.sql_handlers.patterns is 'Which event types the consumer gets: exact ones, prefix.*, prefix:* or *.';
comment on column core.sql_handlers.function is 'The function, as it was subscribed.';
comment on column core.sql_handlers.owner is 'As whom it runs: its owner when it was subscribed.';
comment on column core.sql_handlers.timeout is 'How long a call may take when a node runs it.';
comment on column core.sql_handlers.state is 'State of the consumer: active, paused or halted.';
comment on column core.sql_handlers.trouble is 'Why the function is not called as it is now; NULL if it may be. Its events wait.';
comment on column core.sql_handlers.mend is 'What its owner does about it; NULL without trouble.';
comment on column core.sql_handlers.created_by is 'Who subscribed it: the session user, with the role set, if any.';
comment on column core.sql_handlers.created_at is 'Database clock when it was subscribed.';
