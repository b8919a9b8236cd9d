-- Volatile, so that each call has a snapshot of its own under READ COMMITTED.
create or replace function core_private.scheduled_event_status(p_schedule_id uuid)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text;
    v_status    text;
begin
    select e.namespace, e.status
      into v_namespace, v_status
      from core.scheduled_events e
     where e.schedule_id = p_schedule_id
     order by e.namespace = any (core_private.scheduled_namespaces(p_schedule_id)) desc,
              core_private.is_hidden(e.namespace)
     limit 1;
    if not found or core_private.is_hidden(v_namespace) then
        return null;
    end if;
    perform core_private.require_scheduling(v_namespace);
    return v_status;
end $$;
comment on function core_private.scheduled_event_status(uuid) is 'What became of a scheduled event, for those who may change it; NULL if there is none. Raises NX401, NX402.';
