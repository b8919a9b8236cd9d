-- One, as a rule: an id is one event's in each namespace, and namespaces that are closed to one another may have chosen
-- the same.
create or replace function core_private.scheduled_namespaces(p_schedule_id uuid)
returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(array_agg(e.namespace), '{}')
      from core.scheduled_events e
      join core.namespaces n on n.namespace = e.namespace
     where e.schedule_id = p_schedule_id
       and (core_private.has_duty(n.namespace, 'operate', n.restricted)
            or core_private.has_duty(n.namespace, 'produce', n.restricted))
$$;
comment on function core_private.scheduled_namespaces(uuid) is 'Where the caller may change the scheduled event of that id.';
