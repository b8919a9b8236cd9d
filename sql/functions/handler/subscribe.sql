create or replace function core.subscribe(
    p_namespace text, p_pattern text, p_function regprocedure, p_options jsonb = '{}')
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known    constant text[] := array[
        'consumer', 'timeout', 'from', 'retry', 'unhandled_after', 'max_in_flight', 'rate', 'levels', 'kind', 'lanes',
        'exhausted'];
    v_now      timestamptz := core_private.now();
    v_name     text;
    v_owner    oid;
    v_consumer text;
    v_id       integer;
    v_timeout  interval := interval '30 seconds';
    v_there    core_private.sql_handlers;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    perform core_private.refuse_borrowed_session();
    perform core_private.check_option_keys(p_options, v_known);
    v_owner := core_private.check_sql_handler(p_namespace, p_function, 'p_function');
    select p.proname into v_name from pg_proc p where p.oid = p_function;
    if p_options ? 'consumer' and jsonb_typeof(p_options -> 'consumer') <> 'string' then
        perform core_private.fail_option('consumer', p_options -> 'consumer', 'Give the name of a consumer.');
    end if;
    if p_options ? 'timeout' then
        v_timeout := core_private.parse_interval(p_options -> 'timeout', 'timeout', '10 milliseconds', '12 hours');
    end if;
    v_consumer := coalesce(p_options ->> 'consumer', v_name);
    if exists (select from core.webhooks w where w.namespace = p_namespace and w.name = v_consumer) then
        raise exception using errcode = 'NX214', column = 'p_options',
            message = format('consumer %s of namespace %s is a webhook, whose events are POSTed',
                quote_literal(v_consumer), quote_literal(p_namespace)),
            hint = 'Give another consumer in the options.';
    end if;
    perform core.create_consumer(p_namespace, v_consumer, array[p_pattern], p_options - '{consumer,timeout}'::text[]);
    select c.consumer_id
      into v_id
      from core.consumers c
     where c.namespace = p_namespace and c.name = v_consumer;
    insert into core_private.sql_handlers as h (consumer_id, function, owner, timeout, created_by, created_at)
    values (v_id, p_function::text, v_owner::regrole, v_timeout, core_private.principal(), v_now)
    on conflict (consumer_id) do nothing;
    if found then
        perform core_private.audit('subscribe', p_namespace, v_consumer, null,
            jsonb_build_object('pattern', p_pattern, 'function', p_function::text, 'options', p_options));
        perform core_private.warn_of_public(p_function);
        return v_consumer;
    end if;
    select * into v_there from core_private.sql_handlers h where h.consumer_id = v_id;
    if v_there.function <> p_function::text or v_there.owner <> v_owner
       or p_options ? 'timeout' and v_there.timeout <> v_timeout then
        raise exception using errcode = 'NX214', column = 'p_function',
            message = format('consumer %s of namespace %s has the handler %s of %s with timeout %s',
                quote_literal(v_consumer), quote_literal(p_namespace), v_there.function, v_there.owner,
                v_there.timeout),
            hint = 'Give another consumer in the options, or core.unsubscribe this one first.';
    end if;
    return v_consumer;
end $$;
comment on function core.subscribe(text, text, regprocedure, jsonb) is 'Has a function (jsonb) of yours handle the events of that pattern, in a consumer of its own, whose name it returns: that of the option consumer, else that of the function. It is SECURITY DEFINER with a search_path of its own, and its owner, as whom it runs, granted EXECUTE to nexus_guard. Said again, nothing happens. Options: consumer, timeout (of a call by a node), and from, retry, unhandled_after, max_in_flight, rate, levels, kind, lanes, exhausted as in core.create_consumer: with the kind ordered the events of one ordering key are handled one after the other. Raises 42501, NX004, NX005, NX006, NX007, NX008, NX015, NX101, NX202, NX212, NX214, NX225, NX401, NX402.';
