create or replace function core_private.check_capabilities(
    p_namespace text, p_types text[], p_consumers text[], p_workflows text[] = '{}',
    p_queues text[] = '{}')
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key   text;
    v_field text;
    v_names text[];
begin
    perform core_private.check_types(p_types);
    if cardinality(p_consumers) <> coalesce(cardinality(p_types), 0) then
        raise exception using errcode = 'NX006', column = 'p_consumers',
            message = format('there are %s types and %s consumers',
                coalesce(cardinality(p_types), 0), cardinality(p_consumers)),
            hint = 'Give one consumer for each type, or leave them out: '
                || 'then all types are those of the consumer default.';
    end if;
    select u.c
      into v_key
      from unnest(p_consumers) u(c)
     where cardinality(p_types) > 0
       and not exists (select from core.consumers x where x.namespace = p_namespace and x.name = u.c)
     limit 1;
    if found then
        raise exception using errcode = 'NX102', column = 'p_consumers',
            message = format('namespace %s has no consumer %s',
                quote_literal(p_namespace), coalesce(quote_literal(left(v_key, 100)), 'NULL')),
            hint = 'Consumers are listed in core.consumers.';
    end if;
    for v_field, v_names in values ('workflow', p_workflows), ('queue', p_queues)
    loop
        if cardinality(v_names) > 2000 then
            raise exception using errcode = 'NX006', column = 'p_' || v_field || 's',
                message = format('there are %s %ss, more than 2000', cardinality(v_names), v_field),
                hint = 'Give up to 2000.';
        end if;
        select w into v_key from unnest(v_names) w where w is null or w !~ '^[[:graph:]]{1,200}$' limit 1;
        if found then
            raise exception using errcode = 'NX006', column = 'p_' || v_field || 's',
                message = format('%s %s cannot be used', v_field, coalesce(quote_literal(left(v_key, 100)), 'NULL')),
                hint = 'Use 1 to 200 printable characters without blanks.';
        end if;
    end loop;
end $$;
comment on function core_private.check_capabilities(text, text[], text[], text[], text[]) is 'Refuses what no node can say that it can do. Raises NX006, NX008, NX102.';
