-- 256 random bits need no salt. The first part finds it, so that nothing is compared but the sums.
create or replace function core.create_ingress_token(p_namespace text, p_name text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id    uuid := gen_random_uuid();
    v_token text := 'nxi_' || replace(v_id::text, '-', '') || '_'
        || encode(
               sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
               'hex');
begin
    perform core_private.require_admin(p_namespace);
    if coalesce(p_name, '') !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' then
        raise exception using errcode = 'NX006', column = 'p_name',
            message = format('p_name cannot be %s', coalesce(quote_literal(left(p_name, 100)), 'NULL')),
            hint = 'Give letters, digits, ".", "_" and "-", up to 100, of which the first is a letter or digit.';
    end if;
    insert into core.ingress_tokens (token_id, namespace, name, sum, created_at, created_by)
    values (
        v_id, p_namespace, p_name, sha256(convert_to(v_token, 'UTF8')), core_private.now(), core_private.principal())
    on conflict (namespace, name) do nothing;
    if not found then
        raise exception using errcode = 'NX006', column = 'p_name',
            message = format('namespace %s has a token %s', quote_literal(p_namespace), quote_literal(p_name)),
            hint = 'Give another name, or revoke that one with core.revoke_ingress_token.';
    end if;
    perform core_private.audit('create_ingress_token', p_namespace, p_name, null);
    return v_token;
end $$;
comment on function core.create_ingress_token(text, text) is 'Makes a token by which ingress.Handler takes events into a namespace, and returns it, this once. Raises NX006, NX101, NX401.';
