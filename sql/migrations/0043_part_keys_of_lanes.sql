-- The dedupe keys of an outbox queue stood among those of the namespace's events, behind a prefix that the key of an event
-- may have as well. They are apart now, in a namespace that nobody can make. What looks so and is of an event, as the log
-- says, stays.
update core.event_keys k
   set namespace = format('outbox %s %s', c.namespace, c.name),
       key = substr(k.key, length(format('outbox %s %s ', c.namespace, c.name)) + 1)
  from core.consumers c
 where c.kind = 'outbox' and k.namespace = c.namespace and k.key ^@ format('outbox %s %s ', c.namespace, c.name)
   and k.msg_id is null
   and not exists (select from core.event_log e where e.namespace = k.namespace and e.event_id = k.event_id);
comment on column core.event_keys.namespace is 'A key is one namespace''s, or one outbox queue''s: "outbox", its namespace and its name, which no namespace is called.';
