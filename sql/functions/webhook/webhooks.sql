create or replace function core_node.webhooks(p_namespace text)
returns table (
    name text, queue_name text, url text, source text, timeout_ms integer, concurrency integer, max_attempts integer,
    secrets text[])
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
begin
    perform core_private.require_duty(p_namespace, 'consume');
    return query
        select w.name, c.queue_name, w.url, w.source, (extract(epoch from w.timeout) * 1000)::integer, w.concurrency,
               core_private.max_attempts(c.retry, n.retry),
               array(select s.secret
                       from core_private.webhook_secrets s
                      where s.consumer_id = w.consumer_id and (s.expires_at is null or s.expires_at > v_now)
                      order by s.secret_id desc)
          from core.webhooks w
          join core.consumers c on c.consumer_id = w.consumer_id
          join core.namespaces n on n.namespace = w.namespace
         where w.namespace = p_namespace
         order by w.name;
end $$;
comment on function core_node.webhooks(text) is 'For nodes: the webhooks of a namespace with the secrets that sign now, the newest first. Raises NX101, NX401, NX402.';
