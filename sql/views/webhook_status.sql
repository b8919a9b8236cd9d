create or replace view core.webhook_status with (security_invoker = true) as
select w.namespace, w.name, c.state, case when c.state = 'paused' then w.paused_reason end as paused_reason,
       case when c.state = 'paused' then w.paused_at end as paused_at,
       w.url, c.patterns, w.failing_since, w.last_delivered_at, w.last_failed_at, w.last_error,
       w.source, w.timeout, w.concurrency, w.pause_after, w.created_at, c.queue_name
  from core.webhooks w
  join core.consumers c on c.consumer_id = w.consumer_id;
comment on view core.webhook_status is 'Webhooks: where they go, how that goes, and why those that are paused are.';
comment on column core.webhook_status.namespace is 'The namespace whose events it gets.';
comment on column core.webhook_status.name is 'The name of its consumer.';
comment on column core.webhook_status.state is 'active, or paused: then events wait on its queue.';
comment on column core.webhook_status.paused_reason is 'Why it was paused; NULL if somebody did that.';
comment on column core.webhook_status.paused_at is 'When it was paused because it failed.';
comment on column core.webhook_status.url is 'Where its events go.';
comment on column core.webhook_status.patterns is 'Which events.';
comment on column core.webhook_status.failing_since is 'The first failure after the last success; NULL: the last one known went well.';
comment on column core.webhook_status.last_delivered_at is 'The last success, to some ten seconds.';
comment on column core.webhook_status.last_failed_at is 'The last failure.';
comment on column core.webhook_status.last_error is 'Its error: the status and the beginning of the answer.';
comment on column core.webhook_status.source is 'source of its CloudEvents; NULL: nexus: and the namespace.';
comment on column core.webhook_status.timeout is 'How long one POST may take.';
comment on column core.webhook_status.concurrency is 'POSTs at once of each node.';
comment on column core.webhook_status.pause_after is 'How long it may fail before it is paused; 0: for ever.';
comment on column core.webhook_status.created_at is 'When it was created.';
comment on column core.webhook_status.queue_name is 'The queue of its consumer.';
