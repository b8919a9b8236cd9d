create or replace function core.revoke_ingress_token(p_namespace text, p_name text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_admin(p_namespace);
    delete from core.ingress_tokens t where t.namespace = p_namespace and t.name = p_name;
    if not found then
        return false;
    end if;
    perform core_private.audit('revoke_ingress_token', p_namespace, p_name, null);
    return true;
end $$;
comment on function core.revoke_ingress_token(text, text) is 'Takes a token back: nothing is taken by it any more. True if there was one. Raises NX101, NX401.';
