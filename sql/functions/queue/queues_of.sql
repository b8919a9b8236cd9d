-- In the order of their names, as by all who lock several.
create or replace function core_private.queues_of(p_namespace text, p_consumer text)
returns table (queue_name text, consumer text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if p_consumer is not null
       and not exists (select from core.consumers c where c.namespace = p_namespace and c.name = p_consumer) then
        raise exception using errcode = 'NX102', column = 'p_consumer',
            message = format('namespace %s has no consumer %s',
                             quote_literal(p_namespace), quote_literal(left(p_consumer, 100))),
            hint = 'Consumers are listed in core.consumers.';
    end if;
    perform core_private.refuse_ordered(p_namespace, p_consumer, 'p_consumer', 'queue whose deliveries can be picked');
    return query
        select c.queue_name, c.name
          from core.consumers c
         where c.namespace = p_namespace and c.kind = 'unordered' and (p_consumer is null or c.name = p_consumer)
         order by c.queue_name;
end $$;
comment on function core_private.queues_of(text, text) is 'The queues of the consumer named, or of all of a namespace. Raises NX102, NX225.';
