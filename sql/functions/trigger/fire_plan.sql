-- core_private.delivery_plan's part for triggers. Candidates come once a distinct type, then keys, then filters: in
-- another order a thousand filters cost twelve times as much. So each step is a table of its own.
--
-- The generation is read with the routes, by the one statement that delivers. A queue that came since this looked has
-- no CTE: what is for it is due at once, and promoted.
create or replace function core_private.fire_plan(
    p_namespace text, p_event_types text[], p_links boolean = false,
    out ctes text, out queues text[], out generation text, out links text)
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
    v_known    text[];
    v_patterns text[];
    v_queue    text;
    v_n        integer := 0;
begin
    ctes := '';
    links := '';
    queues := '{}';
    select n.trigger_patterns, n.trigger_generation::text
      into v_known, generation
      from core.namespaces n where n.namespace = p_namespace;
    if v_known is null then
        return;
    end if;
    v_patterns := array(
        select distinct u.p from unnest(p_event_types) t cross join unnest(core_private.patterns_of(t)) u(p));
    if not v_known && v_patterns then
        return;
    end if;
    select n.trigger_generation::text, array(
               select distinct r.queue_name
                 from core_private.event_routes r
                where r.namespace = n.namespace and r.pattern = any (v_patterns)
                order by r.queue_name)
      into generation, queues
      from core.namespaces n
     where n.namespace = p_namespace;
    if queues = '{}' then
        return;
    end if;
    generation := format('(select n.trigger_generation from core.namespaces n where n.namespace = %L)', p_namespace);
    ctes := format($q$,
        candidates as materialized (
            select y.event_type, r.trigger_id, r.target, r.queue_name, r.marks, r.headers, r.filter, r.filter_key
              from (select x.event_type, core_private.patterns_of(x.event_type) as patterns
                      from (select distinct s.event_type from src s) x) y
              join core_private.event_routes r on r.namespace = %L and r.pattern = any (y.patterns)),
        keyed as materialized (
            select s.event_id, s.event_type, k.key
              from src s
             cross join lateral unnest(case
                   when exists (select from candidates c where c.filter_key <> '')
                   then core_private.payload_keys(s.payload)
                   else '{""}' end) k(key)),
        hits as materialized (
            select h.*, s.message || h.marks || jsonb_build_object('sourceType', s.event_type) as routed_message,
                   h.route_headers || coalesce(s.headers, '{}') as routed_headers, s.due_at,
                   s.depth > %L as too_deep
              from (select k.event_id, k.event_type, c.trigger_id, c.target, c.queue_name, c.marks, c.filter,
                           c.headers as route_headers
                      from keyed k
                      join candidates c on c.event_type = k.event_type and c.filter_key = k.key
                    offset 0) h
              join src s on s.event_id = h.event_id
             where h.filter is null or s.payload @> h.filter),
        dropped as (
            insert into core.trigger_drops (namespace, event_id, event_type, trigger_id, why, deliveries, dropped_at)
            select %L, h.event_id, h.event_type, h.trigger_id, 'depth', 1, $1
              from hits h
             where h.too_deep),
        fired_later as (
            insert into core.delayed (due_at, queue_name, event_type, message, headers)
            select coalesce(h.due_at, $1), h.queue_name, h.target, h.routed_message, h.routed_headers
              from hits h
             where (h.due_at is not null or h.queue_name <> all (%L)) and not h.too_deep
             order by h.event_id, h.trigger_id)$q$,
        p_namespace, core_private.max_trigger_depth(p_namespace), p_namespace, queues);
    foreach v_queue in array queues loop
        v_n := v_n + 1;
        if to_regclass(core_private.queue_relation(v_queue)) is null then
            perform core_private.fail_lost_queue(v_queue);
        end if;
        ctes := ctes || format($q$,
        fired%s as (
            insert into %s (msg_id, read_ct, enqueued_at, vt, message, headers) overriding system value
            select nextval(%L::regclass), 0, $1, $1, x.routed_message, x.routed_headers
              from (select h.routed_message, h.routed_headers
                      from hits h
                     where h.due_at is null and not h.too_deep and h.queue_name = %L
                     order by h.event_id, h.trigger_id) x
            %s)$q$,
            v_n, core_private.queue_relation(v_queue), core_private.queue_sequence(v_queue), v_queue,
            case when p_links then 'returning msg_id, (message ->> ''eventId'')::bigint as event_id' end);
        if p_links then
            links := links || format(
                ' union all select %L, f.msg_id, e.task_id, e.slot, e.event_id from fired%s f'
                ' join src e on e.event_id = f.event_id where e.overlap <> ''allow''', v_queue, v_n);
        end if;
    end loop;
end $$;
comment on function core_private.fire_plan(text, text[], boolean) is 'The part of a statement that makes the deliveries of triggers for the events of its CTE src, which has event_id, event_type, payload, message, headers, due_at and depth: CTEs to follow those of core_private.delivery_plan, the queues to wake, and, for the log, the generation of the triggers that it meets, as SQL. No CTEs where no trigger can match. p_links, for tasks: src has task_id, slot and overlap as well, and links are the rows of these deliveries for core_private.task_deliveries, to follow others. Raises NX110.';
