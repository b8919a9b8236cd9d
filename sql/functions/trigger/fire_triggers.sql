-- One index scan on a kept plan: with an array as a parameter it would be planned anew at each call, for ten times the
-- price. The generation is read in the same statement, so that it says which triggers the event met. Only where
-- triggers match a statement is built for their queue.
create or replace function core_private.fire_triggers(
    p_namespace text, p_event_type text, p_patterns text[], p_payload jsonb, p_message jsonb, p_headers jsonb,
    p_due_at timestamptz, p_now timestamptz, p_depth integer)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
    v_keys    text[] := core_private.payload_keys(p_payload);
    v_targets text[];
    v_queues  text[];
    v_marks   jsonb[];
    v_headers jsonb[];
    v_queue   text;
    v_met     bigint;
begin
    select array_agg(r.target order by r.trigger_id), array_agg(r.queue_name order by r.trigger_id),
           array_agg(r.marks order by r.trigger_id), array_agg(r.headers order by r.trigger_id),
           (select n.trigger_generation from core.namespaces n where n.namespace = p_namespace)
      into v_targets, v_queues, v_marks, v_headers, v_met
      from core_private.event_routes r
     where r.namespace = p_namespace and r.pattern = any (p_patterns) and r.filter_key = any (v_keys)
       and (r.filter is null or p_payload @> r.filter);
    if v_targets is null then
        return v_met;
    elsif p_depth > 0 and p_depth > core_private.max_trigger_depth(p_namespace) then
        insert into core.trigger_drops (namespace, event_id, event_type, trigger_id, why, deliveries, dropped_at)
        select p_namespace, (p_message ->> 'eventId')::bigint, p_event_type, (m ->> 'triggerId')::uuid, 'depth', 1,
               p_now
          from unnest(v_marks) m;
        return v_met;
    elsif cardinality(v_targets) = 1 or p_due_at is not null then
        for i in 1 .. cardinality(v_targets) loop
            perform core_private.deliver_routed(
                v_queues[i], v_targets[i], p_message || (v_marks[i] - 'eventType'),
                v_headers[i] || coalesce(p_headers, '{}'), p_due_at, p_now);
        end loop;
        return v_met;
    end if;
    for v_queue in select distinct u.q from unnest(v_queues) u(q) order by u.q loop
        if to_regclass(core_private.queue_relation(v_queue)) is null then
            perform core_private.fail_lost_queue(v_queue);
        end if;
        execute format($q$
            insert into %s (msg_id, read_ct, enqueued_at, vt, message, headers) overriding system value
            select nextval(%L::regclass), 0, $1, $1, $2 || u.marks, u.headers || $3
              from unnest($4, $5, $6) u(queue, marks, headers)
             where u.queue = $7
            $q$, core_private.queue_relation(v_queue), core_private.queue_sequence(v_queue))
          using p_now, p_message || jsonb_build_object('sourceType', p_event_type), coalesce(p_headers, '{}'),
                v_queues, v_marks, v_headers, v_queue;
        if exists (select from core_private.wake_flags f where f.key = v_queue and f.waiting_until > p_now) then
            perform core_private.wake(v_queue, p_now);
        end if;
    end loop;
    return v_met;
end $$;
comment on function core_private.fire_triggers(text, text, text[], jsonb, jsonb, jsonb, timestamptz, timestamptz, integer) is 'Makes the deliveries of the triggers that an event matches, and returns the generation of the triggers that were looked up, for the log. p_patterns is core_private.patterns_of its type. An event that lies too deep makes none, and is noted. Raises NX110.';
