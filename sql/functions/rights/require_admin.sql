create or replace function core_private.require_admin(p_namespace text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if not pg_has_role(core_private.caller(), 'nexus_admin', 'member') then
        raise exception using errcode = 'NX401', column = 'p_namespace',
            message = format('role %I may not administer namespaces', core_private.caller()),
            hint = format('grant nexus_admin to %I;', core_private.caller());
    end if;
    perform core_private.refuse_borrowed_session();
    if not exists (select from core.namespaces n where n.namespace = p_namespace) then
        perform core_private.fail_unknown_namespace(p_namespace, 'p_namespace', false);
    end if;
end $$;
comment on function core_private.require_admin(text) is 'Raises NX401 unless the caller is an administrator, NX101 for an unknown namespace, 42501 where the session is not the caller''s own.';
