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
    select e.namespace, e.status into v_namespace, v_status from core.scheduled_events e where e.schedule_id = p_schedule_id;
    if found and not exists (select from core.namespaces n
                              where n.namespace = v_namespace
                                and (core_private.has_duty(v_namespace, 'operate', n.restricted) or core_private.has_duty(v_namespace, 'produce', n.restricted))) then
        perform core_private.require_duty_there(v_namespace, case when pg_has_role(core_private.caller(), 'nexus_operator', 'member') then 'operate' else 'produce' end,
            'p_schedule_id', 'scheduled event ' || p_schedule_id);
    end if;
    return v_status;
end $$;
comment on function core_private.scheduled_event_status(uuid) is 'What became of a scheduled event, for those who may change it; NULL if there is none. Raises NX401, NX402.';
