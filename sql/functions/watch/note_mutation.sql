-- One mutation by kept plans: making the statement of core_private.mutation_statement takes ten times as long. Only one
-- that is emitted as well is made by that.
create or replace function core_private.note_mutation(
    p_namespace text, p_collection text, p_op text, p_key jsonb, p_old jsonb, p_new jsonb, p_changed text[],
    p_now timestamptz, p_emit boolean = false, p_omitted text[] = null, p_more jsonb = '{}')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
    v_type     text   := 'kv.' || p_collection || '.' || p_op;
    v_patterns text[] := core_private.patterns_of(p_collection collate "C");
    v_cause    jsonb  := '{}';
    v_depth    integer;
    v_payload  jsonb;
    v_bytes    integer;
    v_queues   text[];
    v_marks    jsonb[];
    v_headers  jsonb[];
    v_id       bigint;
    v_uid      uuid;
    v_message  jsonb;
    v_queue    text;
    v_ids      bigint[];
begin
    if not p_emit and not exists (
        select
          from core_private.kv_routes r
         where r.namespace = p_namespace and r.pattern = any (v_patterns) and (r.ops = '{}' or p_op = any (r.ops))) then
        return;
    end if;
    if p_emit then
        execute core_private.mutation_statement(
            p_namespace, p_collection collate "C", p_op,
            'select $2 as key, $3 as old, $4 as new, $5 as changed, $6 as omitted',
            core_private.mutation_queues(p_namespace, p_collection collate "C", p_op), p_now, true, p_more => p_more)
           into v_queues, v_ids
          using p_now, p_key, p_old, p_new, p_changed, p_omitted;
        perform core_private.wake_mutated(p_namespace, v_queues, true, p_now);
        if v_ids is not null then
            perform core_private.run_sync_triggers(p_namespace, v_ids, p_now, true, true);
        end if;
        return;
    end if;
    if current_setting('nexus.cause', true) <> '' then
        v_cause := core_private.with_cause('{}');
    end if;
    v_depth := coalesce((v_cause ->> 'depth')::integer, 0);
    v_payload := jsonb_build_object('collection', p_collection, 'op', p_op, 'key', p_key, 'old', p_old, 'new', p_new,
                                    'changed', to_jsonb(p_changed)) || p_more;
    if p_omitted is not null then
        v_payload := v_payload || jsonb_build_object('omitted', to_jsonb(p_omitted));
    end if;
    select n.max_payload_bytes into v_bytes from core.namespaces n where n.namespace = p_namespace;
    if not core_private.fits_payload(v_payload, v_bytes) then
        v_payload := core_private.cut_mutation(v_payload, v_bytes);
    end if;
    select array_agg(r.queue_name), array_agg(r.marks), array_agg(r.headers)
      into v_queues, v_marks, v_headers
      from core_private.kv_routes r
     where r.namespace = p_namespace and r.pattern = any (v_patterns) and (r.ops = '{}' or p_op = any (r.ops))
       and (r.columns = '{}' or p_op <> 'update' or p_changed && r.columns)
       and (r.filter is null or v_payload @> r.filter);
    if v_queues is null then
        return;
    elsif v_depth > core_private.max_trigger_depth(p_namespace) then
        insert into core.trigger_drops (namespace, event_type, trigger_id, why, deliveries, dropped_at)
        select p_namespace, v_type, (m ->> 'triggerId')::uuid, 'depth', 1, p_now from unnest(v_marks) m;
        return;
    end if;
    v_id := case when pg_current_xact_id() is not null then nextval('core.event_id_seq') end;
    v_uid := gen_random_uuid();
    v_message := to_jsonb(row(p_namespace, v_type, v_payload, core_private.iso(p_now), null, v_id, v_uid)
                          ::core_private.plain_message)
        || jsonb_strip_nulls(jsonb_build_object(
               'sourceType', v_type, 'depth', nullif(v_depth, 0), 'causationUid', v_cause ->> 'causation_uid',
               'correlationId', v_cause ->> 'correlation_id'));
    for i in 1 .. cardinality(v_queues) loop
        v_queue := v_queues[i];
        continue when v_queue = ''; -- it is sync
        if to_regclass(core_private.queue_relation(v_queue)) is null then
            perform core_private.fail_lost_queue(v_queue);
        end if;
        execute 'insert into ' || core_private.queue_relation(v_queue)
            || '(msg_id,read_ct,enqueued_at,vt,message,headers)'
               ' overriding system value values(nextval($1),0,$2,$2,$3,$4)'
          using core_private.queue_sequence(v_queue)::regclass, p_now, v_message || v_marks[i], v_headers[i];
        if exists (select from core_private.wake_flags f where f.key = v_queue and f.waiting_until > p_now) then
            perform core_private.wake(v_queue, p_now);
        end if;
    end loop;
    insert into core.event_log (
        event_id, namespace, event_type, payload, emitted_at, event_uid, depth, causation_uid, correlation_id,
        metadata, principal)
    values (
        v_id, p_namespace, v_type, v_payload, p_now, v_uid, v_depth, (v_cause ->> 'causation_uid')::uuid,
        v_cause ->> 'correlation_id', '{"toTriggers": true}', core_private.principal());
    if '' = any (v_queues) then
        perform core_private.run_sync_triggers(p_namespace, array[v_id], p_now, true, false);
    end if;
end $$;
comment on function core_private.note_mutation(text, text, text, jsonb, jsonb, jsonb, text[], timestamptz, boolean, text[], jsonb) is 'Makes one mutation, if something is to be fired by it or p_emit. Raises 42501, NX015, NX110, NX215, and what triggers that are sync raise.';
