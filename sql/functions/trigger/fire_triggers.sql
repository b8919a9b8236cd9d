-- One look on a kept plan: with an array as a parameter it would be planned anew at each call, for ten times the price.
-- The generation is read in the same statement, so that it says which triggers the event met.
-- Only where triggers match a statement is built for their queue.
--
-- What the payload has is worked out only where a filter asks for it. Nothing here calls a function in SQL, which is
-- parsed and planned again in each transaction, and little calls one that is pinned.
create or replace function core_private.fire_triggers(
    p_namespace text, p_event_type text, p_patterns text[], p_payload jsonb, p_message jsonb, p_headers jsonb,
    p_due_at timestamptz, p_now timestamptz, p_depth integer)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
    v_queues  text[];
    v_marks   jsonb[];
    v_headers jsonb[];
    v_queue   text;
    v_met     bigint;
begin
    select array_agg(x.queue_name), array_agg(x.marks), array_agg(x.headers),
           (select n.trigger_generation from core.namespaces n where n.namespace = p_namespace)
      into v_queues, v_marks, v_headers, v_met
      from (select r.queue_name, r.marks, r.headers
              from core_private.event_routes r
             where r.namespace = p_namespace and r.pattern = any (p_patterns) and r.filter_key = ''
               and (r.filter is null or p_payload @> r.filter)
             union all
            select r.queue_name, r.marks, r.headers
              from core_private.event_routes r
             where r.namespace = p_namespace and r.pattern = any (p_patterns) and r.filter_key > ''
               and r.filter_key = any ((
                   select case when exists (
                                   select from core_private.event_routes k
                                    where k.namespace = p_namespace and k.pattern = any (p_patterns)
                                      and k.filter_key > '')
                               then core_private.payload_keys(p_payload) end)::text[])
               and p_payload @> r.filter) x;
    if v_queues is null then
        return v_met;
    elsif p_depth > 0 and p_depth > core_private.max_trigger_depth(p_namespace) then
        insert into core.trigger_drops (namespace, event_id, event_type, trigger_id, why, deliveries, dropped_at)
        select p_namespace, (p_message ->> 'eventId')::bigint, p_event_type, (m ->> 'triggerId')::uuid, 'depth', 1,
               p_now
          from unnest(v_marks) m;
        return v_met;
    end if;
    p_message := p_message || jsonb_build_object('sourceType', p_event_type);
    if p_due_at is not null then
        insert into core.delayed (due_at, queue_name, event_type, message, headers)
        select p_due_at, u.queue, u.marks ->> 'eventType', p_message || u.marks, u.headers || coalesce(p_headers, '{}')
          from unnest(v_queues, v_marks, v_headers) u(queue, marks, headers);
        return v_met;
    end if;
    foreach v_queue in array
        case when v_queues[1] = all (v_queues) then v_queues[:1]
             else array(select distinct u.q from unnest(v_queues) u(q) order by u.q) end
    loop
        if to_regclass(core_private.queue_relation(v_queue)) is null then
            perform core_private.fail_lost_queue(v_queue);
        end if;
        if cardinality(v_queues) = 1 then
            execute 'insert into ' || core_private.queue_relation(v_queue)
                || '(msg_id,read_ct,enqueued_at,vt,message,headers)'
                   ' overriding system value values(nextval($1),0,$2,$2,$3,$4)'
              using core_private.queue_sequence(v_queue)::regclass, p_now, p_message || v_marks[1],
                    case when p_headers is null then v_headers[1] else v_headers[1] || p_headers end;
        else
            execute format($q$
                insert into %s (msg_id, read_ct, enqueued_at, vt, message, headers) overriding system value
                select nextval($1), 0, $2, $2, $3 || u.marks, u.headers || $4
                  from unnest($5, $6, $7) u(queue, marks, headers)
                 where u.queue = $8
                $q$, core_private.queue_relation(v_queue))
              using core_private.queue_sequence(v_queue)::regclass, p_now, p_message, coalesce(p_headers, '{}'),
                    v_queues, v_marks, v_headers, v_queue;
        end if;
        if exists (select from core_private.wake_flags f where f.key = v_queue and f.waiting_until > p_now) then
            perform core_private.wake(v_queue, p_now);
        end if;
    end loop;
    return v_met;
end $$;
comment on function core_private.fire_triggers(text, text, text[], jsonb, jsonb, jsonb, timestamptz, timestamptz, integer) is 'Makes the deliveries of the triggers that an event matches, and returns the generation of the triggers that were looked up, for the log. p_patterns is core_private.patterns_of its type. An event that lies too deep makes none, and is noted. Raises NX110.';
