-- The log says which triggers an event met. One that was deleted or replaced since does not count: nothing is to go
-- which nobody may have had.
create or replace function core_private.has_fired(p_namespace text, p_event_id bigint)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return exists (
        select
          from core.event_log e
          join core.event_trigger_details d on d.namespace = e.namespace
          join core.triggers t on t.trigger_id = d.trigger_id
         where e.event_id = p_event_id and e.namespace = p_namespace
           and e.depth <= core_private.max_trigger_depth(p_namespace)
           and d.pattern = any (core_private.patterns_of(e.event_type))
           and (d.filter is null or e.payload @> d.filter)
           and coalesce(t.replaced_generation, 0) <= coalesce(e.trigger_generation, 0)
           and core_private.is_fired_by(t.trigger_id, 0, coalesce(e.trigger_generation, 0), e.emitted_at));
end $$;
comment on function core_private.has_fired(text, bigint) is 'Whether an event was delivered by a trigger when it was emitted.';
