create or replace function core_private.append_scheduled_events(p_namespace text, p_ids uuid[], p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v record;
begin
    select array_agg(e.schedule_id order by u.n) as ids,
           array_agg(e.event_type order by u.n) as types,
           array_agg(e.payload order by u.n) as payloads,
           array_agg(e.principal order by u.n) as principals,
           array_agg(
               e.metadata
               || jsonb_build_object('authored_at', core_private.iso(e.message_timestamp), 'depth', e.depth)
               || case when e.tags is null then '{}' else jsonb_build_object('tags', e.tags) end
               order by u.n) as options
      into v
      from unnest(p_ids) with ordinality u(id, n)
      join core.scheduled_events e
        on e.schedule_id = u.id and e.namespace = p_namespace and e.status = 'pending';
    if v.ids is null then
        return 0;
    end if;
    update core.scheduled_events e
       set status = 'appended', event_id = x.event_id, finished_at = p_now, last_error = null
      from core_private.emit_many(p_namespace, v.types, v.payloads, v.options, p_now, v.ids, v.principals) x
     where e.schedule_id = x.event_uid and e.namespace = p_namespace;
    return cardinality(v.ids);
end $$;
comment on function core_private.append_scheduled_events(text, uuid[], timestamptz) is 'Emits pending scheduled events of one namespace, all or none, and makes their rows tombstones; returns how many.';
