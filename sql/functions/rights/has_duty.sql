-- An administrator may do everything; others need the duty's role and, where the namespace is restricted, a grant for
-- one of the roles they are in. Who operates a namespace reads it. A grant is one role's, not one name's: a role that
-- is made anew under an old name has none of what the old one had.
--
-- Who may call a function at all goes by the true current_user, so in an open namespace nobody gains by a session that
-- is another's. What goes beyond, an administrator's rights and a grant, is given in a session of the caller's own
-- only.
create or replace function core_private.has_duty(
    p_namespace text, p_duty text, p_restricted boolean, p_role name = null)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_caller name    := coalesce(p_role, core_private.caller());
    v_admin  boolean := pg_has_role(v_caller, 'nexus_admin', 'member');
begin
    if not v_admin then
        if not pg_has_role(v_caller, core_private.duty_role(p_duty), 'member') then
            return false;
        end if;
        if not p_restricted then
            return true;
        end if;
    end if;
    if p_role is null then
        perform core_private.refuse_borrowed_session();
    end if;
    return v_admin
        or exists (
            select
              from core.namespace_grants g
              join pg_roles r on r.oid = g.role
             where g.namespace = p_namespace and g.duty = p_duty and pg_has_role(v_caller, r.oid, 'member'))
        or p_duty = 'read' and core_private.has_duty(p_namespace, 'operate', true, v_caller);
end $$;
comment on function core_private.has_duty(text, text, boolean, name) is 'Whether a role, if none is given the caller, may do this in that namespace. Raises 42501 where the session is not the caller''s own.';
