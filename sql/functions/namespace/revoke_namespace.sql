create or replace function core.revoke_namespace(p_namespace text, p_role text, p_duty text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_admin(p_namespace);
    perform core_private.check_duty(p_duty);
    if p_role is null then
        raise exception using errcode = 'NX006', column = 'p_role',
            message = 'p_role is NULL',
            hint = 'Name the role that shall lose the grant; core.namespace_grants lists them.';
    end if;
    -- A role that has been dropped is known by the name it had.
    delete from core.namespace_grants g
     where g.namespace = p_namespace and g.duty = p_duty
       and (g.role = core_private.role_named(p_role)
            or g.role_name = p_role and not exists (select from pg_roles r where r.oid = g.role));
    if found then
        perform core_private.audit('revoke_namespace', p_namespace, p_role, null, jsonb_build_object('duty', p_duty));
    end if;
    if p_duty = 'operate' then
        perform core_private.grant_queues(p_namespace);
    end if;
end $$;
comment on function core.revoke_namespace(text, text, text) is 'Takes a grant of core.grant_namespace back. Raises NX006, NX101, NX401.';
