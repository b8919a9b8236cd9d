create or replace function core.outbox_register_queue(
    p_namespace text, p_queue text, p_lanes integer, p_options jsonb = '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_differ  text;
    v_there   record;
    v_id      integer;
begin
    perform core_private.require_consuming(p_namespace);
    perform core_private.check_namespace_name(p_queue, 'NX018', 'p_queue');
    if p_lanes is null or p_lanes not between 1 and 4096 then
        raise exception using errcode = 'NX018', column = 'p_lanes',
            message = format('an outbox queue cannot have %s lanes', coalesce(p_lanes::text, 'NULL')),
            hint = 'Give 1 to 4096. As many messages as there are lanes can be in hand at once.';
    end if;
    perform core_private.check_outbox_options(p_options);
    for v_round in 1 .. 2 loop
        select c.consumer_id, c.kind, c.lanes, c.retry, c.exhausted, q.strict as is_strict, q.profile, q.max_body_bytes
          into v_there
          from core.consumers c
          left join core_private.outbox_queues q on q.consumer_id = c.consumer_id
         where c.namespace = p_namespace and c.name = p_queue;
        if found then
            v_differ := case
                when v_there.kind <> 'outbox' then 'it is a consumer of events'
                else array_to_string(array_remove(array[
                    case when v_there.lanes <> p_lanes then format('%s lanes, not %s', v_there.lanes, p_lanes) end,
                    case when v_there.is_strict <> (p_options ->> 'strict')::boolean then 'strict' end,
                    case when v_there.profile <> p_options ->> 'profile' then 'profile ' || v_there.profile end,
                    case when v_there.max_body_bytes <> (p_options ->> 'max_body_bytes')::integer
                         then 'max_body_bytes ' || v_there.max_body_bytes end,
                    case when v_there.retry <> p_options -> 'retry' then 'retry ' || v_there.retry::text end,
                    case when v_there.exhausted <> p_options ->> 'exhausted'
                         then 'exhausted ' || v_there.exhausted end], null), ', ') end;
            if v_differ <> '' then
                raise exception using errcode = 'NX221',
                    column = case when v_there.lanes <> p_lanes then 'p_lanes' else 'p_options' end,
                    message = format('outbox queue %s of namespace %s exists with other settings: %s',
                        quote_literal(p_queue), quote_literal(p_namespace), v_differ),
                    hint = case when v_there.kind = 'outbox' and v_there.lanes <> p_lanes
                        then format(
                            'Give %s lanes, have them cut anew by core.outbox_repartition, or register another queue.',
                            v_there.lanes)
                        else 'Leave out what you have no opinion about, or register another queue.' end;
            end if;
            return false;
        elsif v_round = 1 then
            -- Whoever registers or drops one beside is waited for.
            perform core_private.lock_namespace(p_namespace, false);
            perform from core.namespaces n where n.namespace = p_namespace for no key update;
            if not found then
                perform core_private.fail_unknown_namespace(p_namespace);
            end if;
        end if;
    end loop;
    insert into core.consumers (namespace, name, kind, patterns, lanes, retry, exhausted, created_at)
    values (
        p_namespace, p_queue, 'outbox', '{}', p_lanes,
        coalesce(p_options -> 'retry', '{"base": "1s", "max": "60s"}'), coalesce(p_options ->> 'exhausted', 'dead'),
        v_now)
    returning consumer_id into v_id;
    insert into core_private.outbox_queues (consumer_id, strict, profile, max_body_bytes)
    values (
        v_id, coalesce((p_options ->> 'strict')::boolean, false), coalesce(p_options ->> 'profile', 'default'),
        coalesce((p_options ->> 'max_body_bytes')::integer, 65536));
    perform core_private.cut_lanes(v_id, 1, p_lanes);
    -- Of messages that were lost with a queue of this name, since they were enqueued while it was dropped.
    delete from core.event_keys k where k.namespace = core_private.outbox_key(p_namespace, p_queue);
    perform core_private.make_lane_partitions(2);
    perform core_private.audit('outbox_register_queue', p_namespace, p_queue, null,
        jsonb_build_object('lanes', p_lanes, 'options', p_options));
    return true;
end $$;
comment on function core.outbox_register_queue(text, text, integer, jsonb) is 'Makes an outbox queue with so many lanes, 1 to 4096: true if it did, false if it was there. Messages of one lane are handled one after the other. What is given again must be what is in force; an option that is left out may be anything. Options: strict (messages of a lane are in the order in which their transactions commit; who enqueues waits for whoever enqueues to the same lane), profile (default, low_latency, high_throughput, relaxed: how processors pace themselves), max_body_bytes (65536; up to 104857600), retry (max_attempts -1: never give up; by default 1 s doubling to 60 s), exhausted (dead; halt: the lane stops at a message whose attempts are used up). Who may consume or operate may register. Raises NX004, NX005, NX007, NX018, NX101, NX221, NX401, NX402.';
