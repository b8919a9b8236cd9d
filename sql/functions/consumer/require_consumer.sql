create or replace function core_private.require_consumer(p_namespace text, p_consumer text, p_lock boolean = false)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id integer;
begin
    if p_lock then
        select c.consumer_id into v_id
          from core.consumers c where c.namespace = p_namespace and c.name = p_consumer
           for update;
    else
        select c.consumer_id into v_id
          from core.consumers c where c.namespace = p_namespace and c.name = p_consumer;
    end if;
    if v_id is null then
        raise exception using errcode = 'NX102', column = 'p_consumer',
            message = format('namespace %s has no consumer %s',
                             quote_literal(p_namespace), coalesce(quote_literal(left(p_consumer, 100)), 'NULL')),
            hint = 'Consumers are listed in core.consumers.';
    end if;
    return v_id;
end $$;
comment on function core_private.require_consumer(text, text, boolean) is 'The number of a consumer, whose row is locked with p_lock. Raises NX102.';
