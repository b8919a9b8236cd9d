-- By the rows of the log, whoever wrote them. No cursor of this is open while a function runs, whose rows it could
-- fetch. After one nothing was left changed by which names are looked up, which core_private.call_handler sees to.
create or replace function core_private.run_sync_triggers(
    p_namespace text, p_event_ids bigint[], p_now timestamptz, p_mutations boolean = false, p_events boolean = true)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
    v_before text    := coalesce(current_setting('nexus.cause', true), '');
    v_max    integer := core_private.max_trigger_depth(p_namespace);
    v_id     bigint;
    v_log    core.event_log;
    v_types  text[];
    v_kept   text[];
    v_marks  jsonb[];
    v_mark   jsonb;
begin
    foreach v_id in array p_event_ids loop
        select * into v_log from core.event_log e where e.event_id = v_id and e.emitted_at = p_now;
        v_types := case when p_events then core_private.patterns_of(v_log.event_type) end;
        -- What mutations that lie too deep would have fired is noted where they are made.
        v_kept := case when p_mutations and v_log.depth <= v_max
                       then core_private.patterns_of((v_log.payload ->> 'collection') collate "C") end;
        select array_agg(x.marks order by x.marks ->> 'trigger')
          into v_marks
          from (select r.marks
                  from core_private.sync_routes r
                 where r.namespace = p_namespace and r.pattern = any (v_types)
                   and (r.filter is null or v_log.payload @> r.filter)
                 union all
                select r.marks
                  from core_private.kv_routes r
                 where r.namespace = p_namespace and r.pattern = any (v_kept) and r.queue_name = ''
                   and (r.ops = '{}' or v_log.payload ->> 'op' = any (r.ops))
                   and (r.columns = '{}' or v_log.payload ->> 'op' <> 'update'
                        or v_log.payload -> 'changed' ?| r.columns)
                   and (r.filter is null or v_log.payload @> r.filter)) x;
        continue when v_marks is null;
        if v_log.depth > v_max then
            insert into core.trigger_drops (
                namespace, event_id, event_type, trigger_id, why, deliveries, dropped_at)
            select p_namespace, v_id, v_log.event_type, (m ->> 'triggerId')::uuid, 'depth', 1, p_now
              from unnest(v_marks) m;
            continue;
        end if;
        foreach v_mark in array v_marks loop
            perform core_private.run_sync_trigger(v_log, v_mark);
        end loop;
        perform set_config('nexus.cause', v_before, true);
    end loop;
end $$;
comment on function core_private.run_sync_triggers(text, bigint[], timestamptz, boolean, boolean) is 'Runs the functions of the triggers that are sync and match these events of this transaction, in their order, those of one by the names of the triggers. p_mutations: the events are mutations, which triggers of kind kv take; p_events: those of kind event take them. What lies too deep runs nothing, and is noted. Raises 42501, NX015, NX215, and what the functions raise.';
