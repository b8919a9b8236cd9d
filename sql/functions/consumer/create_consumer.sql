-- Nodes create what they subscribe to, so who consumes may. No lock stands between this and emit: an emit that does not
-- see the consumer does not know its generation either.
create or replace function core.create_consumer(
    p_namespace text, p_consumer text, p_patterns text[], p_options jsonb = '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known    constant text[] := array[
        'from', 'retry', 'unhandled_after', 'max_in_flight', 'rate', 'levels', 'kind', 'lanes', 'exhausted'];
    v_now      timestamptz := core_private.now();
    v_patterns text[];
    v_differ   record;
    v_queue    text;
    v_kind     text;
    v_id       integer;
    v_new      bigint;
    v_from     timestamptz;
    v_ordered  boolean;
begin
    perform core_private.require_consuming(p_namespace);
    perform core_private.check_consumer_name(p_consumer);
    v_patterns := core_private.check_patterns(p_patterns);
    perform core_private.check_consumer_options(p_options, v_known);
    v_ordered := coalesce(p_options ->> 'kind' = 'ordered', false);
    v_from := core_private.parse_from(p_options -> 'from', 'from');
    for v_round in 1 .. 2 loop
        select c.kind into v_kind from core.consumers c where c.namespace = p_namespace and c.name = p_consumer;
        if v_kind = 'outbox' then
            raise exception using errcode = 'NX212', column = 'p_consumer',
                message = format('consumer %s of namespace %s cannot be made: there is an outbox queue of that name',
                    quote_literal(p_consumer), quote_literal(p_namespace)),
                hint = 'Choose another name.';
        elsif v_kind is not null then
            select *
              into v_differ
              from core_private.differing_consumer_options(p_namespace, p_consumer, v_patterns, p_options);
            if v_differ.said is not null then
                raise exception using errcode = 'NX212', column = 'p_options',
                    message = format('consumer %s of namespace %s exists with other patterns or options: %s',
                        quote_literal(p_consumer), quote_literal(p_namespace), v_differ.said),
                    hint = 'Leave out what you have no opinion about, or change it with core.alter_consumer'
                           || case when v_kind = 'ordered' then ', lanes with core.outbox_repartition.' else '.' end;
            end if;
            return false;
        elsif p_consumer in ('triggers', 'requests') then
            raise exception using errcode = 'NX008', column = 'p_consumer',
                message = format('consumer %s is that of deliveries which name their handlers',
                                 quote_literal(p_consumer)),
                hint = 'Choose another name; that one is made when it is first needed.';
        elsif v_round = 1 then
            -- Whoever creates or drops one beside is waited for.
            perform core_private.lock_namespace(p_namespace, false);
            perform from core.namespaces n where n.namespace = p_namespace for no key update;
            if not found then
                perform core_private.fail_unknown_namespace(p_namespace);
            end if;
        end if;
    end loop;
    if not v_ordered then
        v_queue := core_private.free_queue_name(p_namespace, p_consumer);
    end if;
    v_new := core_private.raise_generation(p_namespace);
    insert into core.consumers (
        namespace, name, kind, lanes, patterns, queue_name, starts_from, created_generation, created_at)
    values (
        p_namespace, p_consumer, case when v_ordered then 'ordered' else 'unordered' end,
        case when v_ordered then coalesce((p_options ->> 'lanes')::integer, 8) end, v_patterns, v_queue,
        case when v_from is null then 'now'
             when v_from = '-infinity' then 'beginning'
             else core_private.iso(v_from) end,
        v_new, v_now)
    returning consumer_id into v_id;
    insert into core_private.consumer_patterns (consumer_id, generation, patterns) values (v_id, v_new, v_patterns);
    perform core_private.apply_consumer_options(v_id, p_options);
    if v_ordered then
        perform core_private.cut_for_consumer(
            v_id, coalesce((p_options ->> 'lanes')::integer, 8), v_from is not null);
    else
        insert into core.queues (queue_name, namespace, consumer_id, created_at)
        values (v_queue, p_namespace, v_id, v_now);
        perform core_private.create_queue(v_queue);
    end if;
    if v_from is not null then
        perform core_private.begin_backfill(v_id, p_namespace, v_new, v_patterns, v_from);
    end if;
    perform core_private.audit('create_consumer', p_namespace, p_consumer, null,
        jsonb_build_object('patterns', v_patterns, 'options', p_options));
    return true;
end $$;
comment on function core.create_consumer(text, text, text[], jsonb) is 'Creates a named consumer with a queue of its own, to which from then on every event is delivered whose type matches one of the patterns (event types, prefix.*, prefix:* or *); true if it did, false if it was there. Patterns and options that are given again must be those in force; an option that is left out may be anything. Options: from ("now"; "beginning" or a time: what is in the log from then on is delivered, too, by ticks), retry, unhandled_after, max_in_flight, rate ("100/min"), levels (1 to 4: how many priorities it tells apart; 1), kind ("unordered"; "ordered": events of one ordering key are handled one after the other, in the order of the log; then without unhandled_after, max_in_flight, rate and levels), lanes (of an ordered one: how many keys can be in hand at once, 1 to 4096; 8), exhausted ("dead"; of an ordered one also "halt": its lane stops at an event whose attempts are used up). Who may consume or operate may create. Raises NX004, NX005, NX007, NX008, NX101, NX202, NX212, NX225, NX401, NX402.';
