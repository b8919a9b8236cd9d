create or replace function core_node.consumer_settings(
    p_namespace text, p_consumer text, out queue_name text, out max_attempts integer)
returns record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform core_private.require_duty(p_namespace, 'consume');
    select coalesce(c.queue_name, core_private.outbox_key(p_namespace, p_consumer)),
           core_private.max_attempts(c.retry, n.retry)
      into queue_name, max_attempts
      from core.consumers c
      join core.namespaces n on n.namespace = c.namespace
     where c.namespace = p_namespace and c.name = p_consumer;
    if not found then
        raise exception using errcode = 'NX102', column = 'p_consumer',
            message = format('namespace %s has no consumer %s',
                             quote_literal(p_namespace), coalesce(quote_literal(left(p_consumer, 100)), 'NULL')),
            hint = 'Consumers are listed in core.consumers.';
    end if;
end $$;
comment on function core_node.consumer_settings(text, text) is 'For nodes: the physical queue of a consumer, of an ordered one the key of its wake-ups, which begins with ''outbox '' and the attempts its policy allows. Raises NX101, NX102, NX401, NX402.';
