create or replace function core.grant_namespace(p_namespace text, p_role text, p_duty text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_role regrole := core_private.role_named(p_role);
begin
    perform core_private.require_admin(p_namespace);
    perform core_private.check_duty(p_duty);
    if v_role is null then
        raise exception using errcode = 'NX107', column = 'p_role',
            message = format('there is no role %s', coalesce(quote_literal(left(p_role, 100)), 'NULL')),
            hint = case when p_role is null then 'Name the role that shall have the grant.'
                        else format('create role %I;', p_role) end;
    end if;
    insert into core.namespace_grants (namespace, role, role_name, duty, granted_by, granted_at)
    values (p_namespace, v_role, p_role, p_duty, core_private.principal(), core_private.now())
    on conflict do nothing;
    if found then
        perform core_private.audit('grant_namespace', p_namespace, p_role, null, jsonb_build_object('duty', p_duty));
    end if;
    if p_duty = 'operate' then
        perform core_private.grant_queues(p_namespace);
    end if;
end $$;
comment on function core.grant_namespace(text, text, text) is 'Lets a role do one duty (produce, consume, operate, read) in a restricted namespace; it needs the duty''s role as well. operate includes read, no other duty does. Raises NX006, NX101, NX107, NX401.';
