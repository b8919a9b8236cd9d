-- What writes mutations, as text, since what a statement changed can be handed to no function without a copy, and is
-- seen by its own trigger alone. p_changes has the columns key, old,
-- new, changed (text[]) and omitted (text[]); $1 is the time, and further parameters are the caller's.
--
-- Mutations go to no consumer, so their rows of the log are marked, as those of requests are: neither backfills nor
-- replays take them. With p_emit they are ordinary events, with all that core.emit_batch does.
create or replace function core_private.mutation_statement(
    p_namespace text, p_collection text, p_op text, p_changes text, p_queues text[], p_now timestamptz,
    p_emit boolean = false, p_doubtful boolean = true, p_more jsonb = '{}')
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_type  text  := 'kv.' || p_collection || '.' || p_op;
    v_cause jsonb := core_private.with_cause('{}');
    v_depth integer := coalesce((v_cause ->> 'depth')::integer, 0);
    v_deep  boolean := v_depth > core_private.max_trigger_depth(p_namespace);
    v_bytes integer := (select n.max_payload_bytes from core.namespaces n where n.namespace = p_namespace);
    v_plan  record;
    v_fire  record;
    v_ctes  text := '';
    v_n     integer := 0;
    v_queue text;
begin
    p_queues := coalesce(p_queues, '{}');
    if p_emit then
        select * into v_plan from core_private.delivery_plan(p_namespace, array[v_type], true, false);
        select * into v_fire from core_private.fire_plan(p_namespace, array[v_type]);
        v_ctes := v_fire.ctes || v_plan.ctes;
    else
        select '' as columns, 'null::bigint' as default_id, null::bigint as generation, '{}'::text[] as queues
          into v_plan;
        select 'null::bigint' as generation into v_fire;
    end if;
    if v_deep then
        v_ctes := v_ctes || format($q$,
        dropped_here as (
            insert into core.trigger_drops (namespace, event_type, trigger_id, why, deliveries, dropped_at)
            select %L, %L, (h.marks ->> 'triggerId')::uuid, 'depth', count(*), $1 from found h group by h.marks)$q$,
            p_namespace, v_type);
    else
        foreach v_queue in array p_queues loop
            continue when v_queue = ''; -- what is sync is run by the caller
            v_n := v_n + 1;
            if to_regclass(core_private.queue_relation(v_queue)) is null then
                perform core_private.fail_lost_queue(v_queue);
            end if;
            v_ctes := v_ctes || format($q$,
        to%s as (
            insert into %s (msg_id, read_ct, enqueued_at, vt, message, headers) overriding system value
            select nextval(%L::regclass), 0, $1, $1, x.message, x.headers
              from (select s.message || h.marks as message, h.headers
                      from found h join src s on s.n = h.n
                     where h.queue_name = %L
                     order by h.n) x)$q$,
                v_n, core_private.queue_relation(v_queue), core_private.queue_sequence(v_queue), v_queue);
        end loop;
    end if;
    return format($q$
        with changes as materialized (%1$s),
        mutations as materialized (
            select m.n, m.changed,
                   case when %2$s then m.payload else core_private.cut_mutation(m.payload, %3$s) end as payload
              from (select row_number() over () as n, c.changed,
                           jsonb_build_object('collection', %4$L, 'op', %5$L, 'key', c.key, 'old', c.old, 'new', c.new,
                                              'changed', to_jsonb(c.changed)) || %6$L::jsonb
                           || case when c.omitted is null then '{}'
                                   else jsonb_build_object('omitted', to_jsonb(c.omitted)) end as payload
                      from changes c offset 0) m),
        routes as materialized (
            select r.queue_name, r.marks || %7$L::jsonb as marks, r.headers, r.columns, r.filter
              from core_private.kv_routes r
             where r.namespace = %8$L and r.pattern = any (%9$L::text[]) and (r.ops = '{}' or %5$L = any (r.ops))),
        found as materialized (
            select m.n, r.queue_name, r.marks, r.headers
              from mutations m
              join routes r on (r.columns = '{}' or %5$L <> 'update' or m.changed && r.columns)
                           and (r.filter is null or m.payload @> r.filter)),
        src as materialized (
            select e.*, to_jsonb(row(%8$L, e.event_type, e.payload, %10$L, null, e.event_id, e.event_uid)
                                 ::core_private.plain_message) || %11$L::jsonb as message%12$s
              from (select m.n, %13$L::text as event_type, m.payload, nextval('core.event_id_seq') as event_id,
                           gen_random_uuid() as event_uid, null::jsonb as headers, null::timestamptz as due_at,
                           null::bigint as held_id, %14$s as depth
                      from mutations m
                     where %15$s
                    offset 0) e)%16$s,
        log as (
            insert into core.event_log (
                event_id, namespace, event_type, payload, emitted_at, event_uid, depth, causation_uid, correlation_id,
                consumer_generation, trigger_generation, metadata, principal)
            select e.event_id, %8$L, e.event_type, e.payload, $1, e.event_uid, e.depth, %17$L::uuid, %18$L,
                   %19$L::bigint, nullif(%22$s, 0), %20$s, %21$L
              from src e)
        select array_agg(distinct h.queue_name), %23$s from found h
        $q$,
        p_changes,
        case when p_doubtful then format('core_private.fits_payload(m.payload, %s)', v_bytes)
             else format('pg_column_size(m.payload) <= %s or octet_length(m.payload::text) <= %s',
                         v_bytes / 30, v_bytes) end,
        v_bytes, p_collection, p_op, p_more, jsonb_build_object('sourceType', v_type), p_namespace,
        core_private.patterns_of(p_collection), core_private.iso(p_now),
        jsonb_strip_nulls(jsonb_build_object(
            'depth', nullif(v_depth, 0), 'causationUid', v_cause ->> 'causation_uid',
            'correlationId', v_cause ->> 'correlation_id')),
        v_plan.columns, v_type, v_depth,
        case when p_emit then 'true' when v_deep then 'false'
             else 'exists (select from found h where h.n = m.n)' end,
        v_ctes, v_cause ->> 'causation_uid', v_cause ->> 'correlation_id', v_plan.generation,
        case when p_emit then format('case when %1$s is null then ''{}''::jsonb '
                                     'else jsonb_build_object(''messageId'', %1$s) end', v_plan.default_id)
             else '''{"toTriggers": true}''::jsonb' end,
        core_private.principal(), v_fire.generation,
        case when p_emit and '!' = any (
                      (select n.trigger_patterns from core.namespaces n where n.namespace = p_namespace)::text[])
             then '(select array_agg(e.event_id order by e.n) from src e)'
             when '' = any (p_queues) and not v_deep
             then '(select array_agg(e.event_id order by e.n) from src e
                     where exists (select from found h where h.n = e.n and h.queue_name = ''''))'
             else 'null::bigint[]' end);
end $$;
comment on function core_private.mutation_statement(text, text, text, text, text[], timestamptz, boolean, boolean, jsonb) is 'A statement that makes the mutations of changes, and returns the queues that have deliveries of them, and the events that triggers which are sync may match. p_queues are those of core_private.mutation_queues; p_emit: ordinary events as well; p_doubtful: a value may be what no payload can be; p_more: members that all of them have. Raises NX110.';
