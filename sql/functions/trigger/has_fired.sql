-- By what there is: a trigger that was enabled, disabled or replaced since does not count, so that nothing goes which
-- nobody may have had.
create or replace function core_private.has_fired(
    p_namespace text, p_event_type text, p_payload jsonb, p_emitted_at text, p_depth bigint)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return exists (
               select
                 from core_private.event_routes r
                 join core.triggers t on t.trigger_id = r.trigger_id
                where r.namespace = p_namespace and r.pattern = any (core_private.patterns_of(p_event_type))
                  and r.filter_key = any (core_private.payload_keys(p_payload))
                  and (r.filter is null or p_payload @> r.filter)
                  and p_emitted_at collate "C" >= core_private.iso(t.updated_at))
       and coalesce(p_depth, 0) <= core_private.max_trigger_depth(p_namespace);
end $$;
comment on function core_private.has_fired(text, text, jsonb, text, bigint) is 'Whether an event was delivered by a trigger when it was emitted.';
