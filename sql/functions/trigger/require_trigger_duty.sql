create or replace function core_private.require_trigger_duty(p_namespace text, p_kind text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_duties text[] := (select k.duties from core_private.trigger_kinds() k where k.kind = coalesce(p_kind, 'event'));
begin
    if not exists (select from core.namespaces n
                    cross join unnest(v_duties) u(duty)
                    where n.namespace = p_namespace and core_private.has_duty(p_namespace, u.duty, n.restricted)) then
        perform core_private.require_duty(p_namespace, coalesce(
            (select u.duty from unnest(v_duties) with ordinality u(duty, n)
              where pg_has_role(core_private.caller(), core_private.duty_role(u.duty), 'member')
              order by u.n desc limit 1), v_duties[1]));
    end if;
end $$;
comment on function core_private.require_trigger_duty(text, text) is 'Raises NX101, NX401 or NX402 unless the caller has one of the duties that a trigger of that kind takes; NULL stands for event.';
