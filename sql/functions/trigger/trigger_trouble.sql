-- A role that is made anew under an old name has another oid.
create or replace function core_private.trigger_trouble(
    p_namespace text, p_kind text, p_principal oid, p_mode text = 'async')
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_role       name    := (select r.rolname from pg_roles r where r.oid = p_principal);
    v_restricted boolean := (select n.restricted from core.namespaces n where n.namespace = p_namespace);
begin
    return v_role is null
        or p_mode = 'sync' and p_kind in ('event', 'kv') and not pg_has_role(v_role, 'nexus_admin', 'member')
        or not exists (select from core_private.trigger_kinds() k
                        cross join unnest(k.duties) u(duty)
                        where k.kind = p_kind
                          and core_private.has_duty(p_namespace, u.duty, v_restricted, v_role));
end $$;
comment on function core_private.trigger_trouble(text, text, oid, text) is 'Whether the role that created a trigger is gone, or has none of the duties of its kind any more.';
