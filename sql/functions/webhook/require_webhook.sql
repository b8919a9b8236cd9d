create or replace function core_private.require_webhook(p_namespace text, p_consumer text)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id integer;
begin
    select w.consumer_id into v_id
      from core.webhooks w
     where w.namespace = p_namespace and w.name = p_consumer
       for no key update;
    if not found then
        raise exception using errcode = 'NX102', column = 'p_consumer',
            message = format('namespace %s has no webhook %s',
                             quote_literal(p_namespace), coalesce(quote_literal(left(p_consumer, 100)), 'NULL')),
            hint = 'Webhooks are listed in core.webhooks.';
    end if;
    return v_id;
end $$;
comment on function core_private.require_webhook(text, text) is 'The number of a webhook, whose row is locked. Raises NX102.';
