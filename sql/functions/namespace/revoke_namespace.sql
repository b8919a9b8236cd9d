create or replace function core.revoke_namespace(p_namespace text, p_role text, p_duty text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_admin(p_namespace);
    perform core_private.check_duty(p_duty);
    delete from core.namespace_grants g where g.namespace = p_namespace and g.role_name = p_role and g.duty = p_duty;
end $$;
comment on function core.revoke_namespace(text, text, text) is 'Takes a grant of core.grant_namespace back. Raises NX006, NX101, NX401.';
