create or replace function core_private.require_duty(p_namespace text, p_duty text, p_field text = 'p_namespace')
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_restricted boolean;
    v_caller     name := core_private.caller();
begin
    select n.restricted into v_restricted from core.namespaces n where n.namespace = p_namespace;
    if not found then
        perform core_private.fail_unknown_namespace(p_namespace, p_field, p_duty in ('produce', 'consume'));
    end if;
    if core_private.has_duty(p_namespace, p_duty, v_restricted) then
        return;
    end if;
    if not pg_has_role(v_caller, core_private.duty_role(p_duty), 'member') then
        raise exception using errcode = 'NX401', column = p_field,
            message = format('role %I may not %s', v_caller, p_duty),
            detail = 'A definer function of your own does not lend its owner''s rights: '
                || 'the login, or the role set by SET ROLE, is asked.',
            hint = format('grant %I to %I;', core_private.duty_role(p_duty), v_caller);
    end if;
    raise exception using errcode = 'NX402', column = p_field,
        message = format('namespace %s is restricted and role %I has no grant to %s in it',
            quote_literal(p_namespace), v_caller, p_duty),
        hint = format('select core.grant_namespace(%L, %L, %L);', p_namespace, v_caller, p_duty);
end $$;
comment on function core_private.require_duty(text, text, text) is 'Raises NX101, NX401 or NX402 unless the caller may do this in that namespace.';
