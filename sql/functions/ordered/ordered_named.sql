create or replace function core_private.ordered_named(p_namespace text, p_consumer text)
returns core.consumers
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_consumer core.consumers;
begin
    select *
      into v_consumer
      from core.consumers c
     where c.namespace = p_namespace and c.name = p_consumer and c.kind = 'ordered';
    if not found then
        raise exception using errcode = 'NX103', column = 'p_consumer',
            message = format('namespace %s has no ordered consumer %s',
                             quote_literal(p_namespace), coalesce(quote_literal(left(p_consumer, 100)), 'NULL')),
            hint = 'Consumers are listed in core.consumer_status, with their kind.';
    end if;
    return v_consumer;
end $$;
comment on function core_private.ordered_named(text, text) is 'An ordered consumer by its name. Raises NX103.';
