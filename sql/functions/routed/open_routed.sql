-- No generation is begun, since no event is delivered by patterns.
create or replace function core_private.open_routed(p_namespace text, p_consumer text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_queue  text;
    v_routed boolean;
    v_id     integer;
begin
    for v_round in 1 .. 2 loop
        select c.queue_name, c.routed
          into v_queue, v_routed
          from core.consumers c
         where c.namespace = p_namespace and c.name = p_consumer;
        if v_routed then
            return v_queue;
        elsif found then
            raise exception using errcode = 'NX212', column = 'p_consumer',
                message = format('consumer %s of namespace %s gets events by patterns', quote_literal(p_consumer),
                                 quote_literal(p_namespace)),
                hint = 'What names handlers needs a consumer without patterns. Drop that one, or give another name.';
        elsif v_round = 1 then
            perform core_private.check_consumer_name(p_consumer);
            -- Whoever creates it beside is waited for.
            perform core_private.lock_namespace(p_namespace, false);
            perform from core.namespaces n where n.namespace = p_namespace for no key update;
            if not found then
                perform core_private.fail_unknown_namespace(p_namespace);
            end if;
        end if;
    end loop;
    v_queue := core_private.free_queue_name(p_namespace, p_consumer);
    insert into core.consumers (namespace, name, patterns, routed, gives_up, queue_name, created_at)
    values (p_namespace, p_consumer, '{}', true, case p_consumer when 'requests' then 'answer' else 'bury' end,
            v_queue, v_now)
    returning consumer_id into v_id;
    insert into core.queues (queue_name, namespace, consumer_id, created_at) values (v_queue, p_namespace, v_id, v_now);
    perform core_private.create_queue(v_queue);
    perform core_private.audit('create_consumer', p_namespace, p_consumer, null, '{"routed": true}');
    return v_queue;
end $$;
comment on function core_private.open_routed(text, text) is 'The queue of a routed consumer, which is made if it is not there. Raises NX008, NX101, NX202, NX212.';
