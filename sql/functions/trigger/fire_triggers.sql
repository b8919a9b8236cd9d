-- One look on a kept plan: with an array as a parameter it would be planned anew at each call, for ten times the price.
-- It goes by the index, pattern by pattern, whatever share of all routes these seem to have: by a bitmap it would read
-- those of the whole namespace. The generation is read in the same statement, so that it says which triggers the event
-- met. Only where triggers match a statement is built for their queue; most events match one or few of one queue.
--
-- What the payload has is worked out only where a filter of the namespace asks for it, in a statement of its own: to
-- set up a look by keys takes as long as to look. Nothing here calls a function in SQL, which is parsed and planned
-- again in each transaction, and little calls one that is pinned.
create or replace function core_private.fire_triggers(
    p_namespace text, p_event_type text, p_patterns text[], p_payload jsonb, p_message jsonb, p_headers jsonb,
    p_due_at timestamptz, p_now timestamptz, p_depth integer)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    v_routes core_private.event_routes[];
    v_route  core_private.event_routes;
    v_queue  text;
    v_done   text[] := '{}';
    v_left   bigint;
    v_n      bigint;
    v_msg_id bigint;
    v_wake   boolean;
    v_met    bigint;
begin
    -- Below zero: filters have keys.
    select x.routes,
           exists (select from core_private.wake_flags f
                    where f.key = (x.routes[1]).queue_name and f.waiting_until > p_now),
           (select case when '?' = any (n.trigger_patterns) then -1 - n.trigger_generation
                        else n.trigger_generation end
              from core.namespaces n where n.namespace = p_namespace)
      into v_routes, v_wake, v_met
      from (select array_agg(y.r) as routes
              from unnest(p_patterns) u(p)
             cross join lateral (
                   select r
                     from core_private.event_routes r
                    where r.namespace = p_namespace and r.pattern = u.p and r.filter_key = ''
                      and (r.filter is null or p_payload @> r.filter)
                   offset 0) y) x;
    if v_met < 0 then
        select array_agg(y.r), true,
               (select n.trigger_generation from core.namespaces n where n.namespace = p_namespace)
          into v_routes, v_wake, v_met
          from unnest(core_private.payload_keys(p_payload)) k(key)
         cross join unnest(p_patterns) u(p)
         cross join lateral (
               select r
                 from core_private.event_routes r
                where r.namespace = p_namespace and r.pattern = u.p and r.filter_key = k.key
                  and (r.filter is null or p_payload @> r.filter)
               offset 0) y;
    end if;
    if v_routes is null then
        return v_met;
    elsif p_depth > 0 then
        if p_depth > core_private.max_trigger_depth(p_namespace) then
            insert into core.trigger_drops (
                namespace, event_id, event_type, trigger_id, why, deliveries, dropped_at)
            select p_namespace, (p_message ->> 'eventId')::bigint, p_event_type, r.trigger_id, 'depth', 1, p_now
              from unnest(v_routes) r;
            return v_met;
        end if;
    end if;
    if p_due_at is not null then
        insert into core.delayed (due_at, queue_name, event_type, message, headers)
        select p_due_at, r.queue_name, r.target,
               p_message || (r.marks || jsonb_build_object('sourceType', p_event_type)),
               r.headers || coalesce(p_headers, '{}')
          from unnest(v_routes) r;
        return v_met;
    end if;
    v_route := v_routes[1];
    v_queue := v_route.queue_name;
    if cardinality(v_routes) = 1 then
        v_msg_id := nextval(to_regclass(core_private.queue_sequence(v_queue)));
        if v_msg_id is null then
            perform core_private.fail_lost_queue(v_queue);
        end if;
        if p_headers is not null then
            v_route.headers := v_route.headers || p_headers;
        end if;
        execute 'insert into ' || core_private.queue_relation(v_queue)
            || '(msg_id,read_ct,enqueued_at,vt,message,headers) overriding system value values($1,0,$2,$2,$3,$4)'
          using v_msg_id, p_now, p_message || (v_route.marks || jsonb_build_object('sourceType', p_event_type)),
                v_route.headers;
        if v_wake then
            perform core_private.wake(v_queue, p_now);
        end if;
        return v_met;
    end if;
    p_message := p_message || jsonb_build_object('sourceType', p_event_type);
    v_left := cardinality(v_routes);
    loop
        if to_regclass(core_private.queue_relation(v_queue)) is null then
            perform core_private.fail_lost_queue(v_queue);
        end if;
        execute 'insert into ' || core_private.queue_relation(v_queue)
            || '(msg_id,read_ct,enqueued_at,vt,message,headers) overriding system value'
               ' select nextval($1),0,$2,$2,$3||r.marks,'
            || case when p_headers is null then 'r.headers' else 'r.headers||$4' end
            || ' from unnest($5) r where r.queue_name=$6'
          using core_private.queue_sequence(v_queue)::regclass, p_now, p_message, p_headers, v_routes, v_queue;
        get diagnostics v_n = row_count;
        if v_wake then
            perform core_private.wake(v_queue, p_now);
        end if;
        v_left := v_left - v_n;
        exit when v_left = 0; -- most are of one queue
        v_done := v_done || v_queue;
        v_queue := (select min(r.queue_name) from unnest(v_routes) r where r.queue_name <> all (v_done));
        v_wake := true;
    end loop;
    return v_met;
end $$;
comment on function core_private.fire_triggers(text, text, text[], jsonb, jsonb, jsonb, timestamptz, timestamptz, integer) is 'Makes the deliveries of the triggers that an event matches, and returns the generation of the triggers that were looked up, for the log. p_patterns is core_private.patterns_of its type. An event that lies too deep makes none, and is noted. Raises NX110.';
