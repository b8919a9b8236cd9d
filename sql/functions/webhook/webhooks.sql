-- A handler has a row for each routed consumer, whose deliveries can name it.
create or replace function core_node.webhooks(p_namespace text)
returns table (
    name text, queue_name text, url text, source text, timeout_ms integer, concurrency integer, max_attempts integer,
    secrets text[], consumer text, pattern text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
begin
    perform core_private.require_duty(p_namespace, 'consume');
    return query
        select w.name, coalesce(c.queue_name, core_private.outbox_key(c.namespace, c.name)), w.url, w.source,
               (extract(epoch from w.timeout) * 1000)::integer, w.concurrency,
               core_private.max_attempts(c.retry, n.retry),
               array(select s.secret
                       from core_private.webhook_secrets s
                      where s.consumer_id = w.consumer_id and (s.expires_at is null or s.expires_at > v_now)
                      order by s.secret_id desc),
               c.name, '*'
          from core.webhooks w
          join core.consumers c on c.consumer_id = w.consumer_id
          join core.namespaces n on n.namespace = w.namespace
         where w.namespace = p_namespace
         union all
        select h.key, c.queue_name, h.url, h.settings ->> 'source',
               (extract(epoch from coalesce((h.settings ->> 'timeout')::interval, interval '15 seconds'))
                * 1000)::integer,
               coalesce((h.settings ->> 'concurrency')::integer, 5), core_private.max_attempts(c.retry, n.retry),
               array(select s.secret
                       from core_private.webhook_secrets s
                      where s.namespace = h.namespace and s.key = h.key
                        and (s.expires_at is null or s.expires_at > v_now)
                      order by s.secret_id desc),
               c.name, h.key
          from core.handlers h
          join core.consumers c on c.namespace = h.namespace and c.routed
          join core.namespaces n on n.namespace = h.namespace
         where h.namespace = p_namespace and h.kind = 'webhook'
         order by 1, 9;
end $$;
comment on function core_node.webhooks(text) is 'For nodes: the webhooks of a namespace, and the handlers that are, with the secrets that sign now, the newest first; for which consumer they take which types. Raises NX101, NX401, NX402.';
