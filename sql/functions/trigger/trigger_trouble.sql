-- A role that is made anew under an old name has another oid.
create or replace function core_private.trigger_trouble(p_namespace text, p_principal oid)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_role       name    := (select r.rolname from pg_roles r where r.oid = p_principal);
    v_restricted boolean := (select n.restricted from core.namespaces n where n.namespace = p_namespace);
begin
    return v_role is null
        or not core_private.has_duty(p_namespace, 'consume', v_restricted, v_role)
           and not core_private.has_duty(p_namespace, 'operate', v_restricted, v_role);
end $$;
comment on function core_private.trigger_trouble(text, oid) is 'Whether the role that created a trigger is gone, or may neither consume nor operate any more.';
