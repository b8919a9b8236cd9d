-- Scheduled events that failed are known by their schedule, which says nothing of a group of them: one that is gone is
-- met by the replay.
create or replace function core_private.why_not_replayed(
    p_source_kind text, p_namespace text, p_consumer text, p_schedule_ids uuid[] = null)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
begin
    if p_source_kind = 'task' then
        return case when not exists (
            select
              from core.scheduled_events e
             where e.schedule_id = any (p_schedule_ids) and e.namespace = p_namespace and e.status = 'failed')
            then 'its source is gone' end;
    elsif p_source_kind <> 'delivery' then
        return 'its source is gone';
    end if;
    select c.queue_name
      into v_queue
      from core.consumers c
     where c.namespace = p_namespace and c.name = p_consumer and c.kind = 'unordered';
    if not found then
        return format('consumer %s is gone', quote_nullable(p_consumer));
    elsif to_regclass(core_private.queue_relation(v_queue)) is null then
        return format('the table of queue %s is missing', v_queue);
    end if;
    return null;
end $$;
comment on function core_private.why_not_replayed(text, text, text, uuid[]) is 'Why none of these dead letters can be delivered again; NULL where nothing is in the way. p_schedule_ids are those of scheduled events among them.';
